// The service with a wall clock that is wrong by the first argument, in milliseconds. With a second argument it has no
// time since boot: after a restart it knows only the wall clock of its last stop.
import { App } from "../../../src/app/app.ts";
import { domains } from "../../../src/app/domains.ts";
import { readConfig } from "../../../src/config.ts";
import { settingsOf } from "../../../src/domains/domain.ts";
import { systemClock } from "../../../src/timing/clock.ts";

const [, , error, only] = process.argv;
const boot = only === undefined ? systemClock.boot : { id: process.pid, offset: 0 };
const app = await App.start(readConfig(process.env, undefined, settingsOf(domains)), {
  clock: { ...systemClock, boot, now: () => Date.now() + Number(error) },
});
app.log.info("listening", { address: app.base, pid: process.pid });
