// The service on a store that does not keep its promise. The checks must find it out.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { App } from "../../../src/app/app.ts";
import { domains } from "../../../src/app/domains.ts";
import { openStorage } from "../../../src/app/store/engines.ts";
import { type Config, readConfig } from "../../../src/config.ts";
import { settingsOf } from "../../../src/domains/domain.ts";
import { WalFile } from "../../../src/storage/sqlite/store-files.ts";
import type { OpenStorage } from "../../../src/storage/storage.ts";
import { EarlyStorage } from "./early-storage.ts";
import { PiecemealStorage } from "./piecemeal-storage.ts";

/** The real store whose log nobody syncs; `mode` is what SQLite itself is told instead of NORMAL. */
function unsynced(mode: "NORMAL" | "OFF") {
  return (config: Config): Promise<OpenStorage> => {
    WalFile.prototype.sync = (done) => void setImmediate(done, null);
    WalFile.prototype.syncHere = () => {};
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
    const prepare = Database.prototype.prepare;
    Database.prototype.prepare = function (this: Database, sql: string, ...rest: never[]) {
      return prepare.call(this, sql.replace("synchronous = NORMAL", `synchronous = ${mode}`), ...rest);
    } as typeof prepare;
    return openStorage(config);
  };
}

const stores: Readonly<Record<string, (config: Config) => Promise<OpenStorage>>> = {
  early: async ({ dataDir }) => new EarlyStorage(join(dataDir, "petstore.db")),
  piecemeal: async ({ dataDir }) => new PiecemealStorage(join(dataDir, "petstore.db")),
  off: unsynced("OFF"),
  normal: unsynced("NORMAL"),
};

const openStore = stores[process.argv[2] ?? ""];
if (!openStore) throw new Error(`One of ${Object.keys(stores).join(", ")} must be named.`);
const app = await App.start(readConfig(process.env, undefined, settingsOf(domains)), { openStore });
app.log.info("listening", { address: app.base, pid: process.pid });
