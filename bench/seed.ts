import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { migrations } from "../src/app/schema.ts";
import { generateApiKey, keyDigest } from "../src/domains/keys/api-key.ts";
import { openDatabase } from "../src/storage/sqlite/database.ts";
import { numbers } from "../test/harness/numbers.ts";

/** Above anything that a load generator can send. */
export const UNLIMITED: Quota = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** One request a day, and a limit per minute that is too high for strikes to lead to a ban. */
export const USED_UP: Quota = { ...UNLIMITED, perDay: 1 };

export interface Quota {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The shop of the first account, which has all animals. */
export const FIRST_SHOP = 1;

/** The generation of a store, with which the service makes cursors. */
export const GENERATION = "bench";

/** A store to start servers on: its file, and the keys of its accounts. */
export interface SeededStore {
  readonly file: string;
  readonly animals: number;
  /** Keys of the accounts, in the order of the quotas. */
  readonly keys: readonly string[];
}

/**
 * Makes a store with the service's own schema. Half of the animals are available. It is filled by
 * SQL, because a million requests would take longer than what is to be measured.
 */
export function seedStore(folder: string, name: string, animals: number, quotas: readonly Quota[]): SeededStore {
  const file = join(folder, `${name}.db`);
  const database = openDatabase(file, 1_000, migrations);
  database.run("PRAGMA synchronous = OFF"); // only while it is filled
  const keys = database.transaction(() => quotas.map((quota, index) => addAccount(database, index, quota)))();
  addAnimals(database, animals);
  database.run(`INSERT INTO store_generation VALUES (1, '${GENERATION}')`);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return { file, animals, keys };
}

/** Fills the other shops of a store, too, with this many animals each. */
export function fillShops({ file, keys }: SeededStore, animals: number): void {
  const database = openDatabase(file, 1_000, migrations);
  database.run("PRAGMA synchronous = OFF"); // only while it is filled
  database.transaction(() => {
    for (let index = 1; index < keys.length; index++) addAnimals(database, animals, FIRST_SHOP + index);
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function addAnimals(database: Database, count: number, shop = FIRST_SHOP): void {
  database.run(
    `${numbers(count)}
     INSERT INTO pets (shop, id, name, category_id, status, added_at)
     SELECT ${shop}, n, 'Animal ' || n, n % 100 + 1, CASE n % 4 WHEN 1 THEN 'pending' WHEN 3 THEN 'sold' ELSE 'available' END, 0
     FROM numbers`,
  );
  database.run(`UPDATE shops SET last_pet_id = ${count} WHERE shop = ${shop}`);
}

/** Adds an account with one key, and returns the key. */
function addAccount(database: Database, index: number, { perMinute, perDay }: Quota): string {
  const number = String(index).padStart(16, "0");
  const key = generateApiKey("live");
  database
    .query("INSERT INTO accounts (id, name, plan, per_minute, per_day, created_at) VALUES (?, ?, ?, ?, ?, ?)")
    .run(`acc_${number}`, `Customer ${index}`, "enterprise", perMinute, perDay, Date.now());
  database
    .query("INSERT INTO shops (shop, account_id, mode) VALUES (?, ?, 'live')")
    .run(FIRST_SHOP + index, `acc_${number}`);
  database
    .query(
      "INSERT INTO api_keys (id, account_id, mode, name, digest, hint, scopes, created_at) VALUES (?, ?, 'live', ?, ?, ?, ?, ?)",
    )
    .run(`key_${number}`, `acc_${number}`, "default", keyDigest(key), key.slice(0, 11), "read,write", Date.now());
  return key;
}
