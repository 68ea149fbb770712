// The service on a store that does not keep its promise. The checks have to find it out.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { App, openStorage } from "../../../src/app.ts";
import { type Config, readConfig } from "../../../src/config.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { EarlyStorage } from "./early-storage.ts";

/** The real store, synced less than it should be: what it asks of SQLite is weakened on its way there. */
function synchronous(mode: string) {
  return (config: Config): Promise<Storage> => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
    const run = Database.prototype.run;
    Database.prototype.run = function (this: Database, sql, ...bindings) {
      return run.call(this, sql.replace("synchronous = FULL", `synchronous = ${mode}`), ...bindings);
    };
    return openStorage(config);
  };
}

const stores: Readonly<Record<string, (config: Config) => Promise<Storage>>> = {
  early: async ({ dataDir }) => new EarlyStorage(join(dataDir, "petstore.db")),
  off: synchronous("OFF"),
  normal: synchronous("NORMAL"),
};

const openStore = stores[process.argv[2] ?? ""];
if (!openStore) throw new Error(`One of ${Object.keys(stores).join(", ")} has to be named.`);
const app = await App.start(readConfig(process.env), { openStore });
app.log.info("listening", { address: app.base, pid: process.pid });
