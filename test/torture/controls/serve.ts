// The service on a store that does not keep its promise. The checks have to find it out.
import { join } from "node:path";
import { App, openStorage } from "../../../src/app.ts";
import { type Config, readConfig } from "../../../src/config.ts";
import { type Storage, statement } from "../../../src/storage/storage.ts";
import { EarlyStorage } from "./early-storage.ts";

/** The real store, synced less than it should be. */
function synchronous(mode: string) {
  return (config: Config): Storage => {
    const storage = openStorage(config);
    void storage.all(statement(`PRAGMA synchronous = ${mode}`)); // a read to the port: outside of a transaction
    return storage;
  };
}

const stores: Readonly<Record<string, (config: Config) => Storage>> = {
  early: ({ dataDir }) => new EarlyStorage(join(dataDir, "petstore.db")),
  off: synchronous("OFF"),
  normal: synchronous("NORMAL"),
};

const openStore = stores[process.argv[2] ?? ""];
if (!openStore) throw new Error(`One of ${Object.keys(stores).join(", ")} has to be named.`);
const app = await App.start(readConfig(process.env), { openStore });
app.log.info("listening", { address: app.base, pid: process.pid });
