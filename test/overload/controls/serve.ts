// The service with weaker load limits. The tests must detect that they do not protect it.
import { App } from "../../../src/app/app.ts";
import { domains } from "../../../src/app/domains.ts";
import { readConfig } from "../../../src/config.ts";
import { settingsOf } from "../../../src/domains/domain.ts";
import { type LoadLimits, loadLimits } from "../../../src/http/load-shedder.ts";
import { turns } from "../../../src/timing/turns.ts";

const { putsOff = true, ...others } = JSON.parse(process.argv[2] ?? "{}") as Partial<LoadLimits> & { putsOff?: false };
if (!putsOff) turns.turn = () => undefined;
const app = await App.start(readConfig(process.env, undefined, settingsOf(domains)), {
  loadLimits: { ...loadLimits, ...others },
});
app.log.info("listening", { address: app.base, pid: process.pid });
