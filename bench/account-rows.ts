// What SQLite alone takes for the rows of a request, in microseconds of CPU time: always of the same account, and of all
// accounts in no order. There is no HTTP, and nothing is kept in memory: with more accounts than fit there, no service on
// such a store is faster.
//
//   npx bun bench/account-rows.ts [ACCOUNTS]     (default 1000000, which takes a minute)
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ShopName } from "../src/contract/caller.ts";
import { keyDigest } from "../src/domains/keys/api-key.ts";
import { KeyStore } from "../src/domains/keys/keys.store.ts";
import { PetStore } from "../src/domains/pets/pets.store.ts";
import { LimitStore, SAVE_BATCH } from "../src/limits/limits.store.ts";
import type { SavedWindows } from "../src/limits/windows.ts";
import { SqliteStorage } from "../src/storage/sqlite/sqlite-storage.ts";
import { MINUTE_MS } from "../src/timing/clock.ts";
import { production } from "../test/harness/key-environments.ts";
import { shuffled } from "./rounds.ts";
import { fillShops, seedStore, UNLIMITED } from "./seed.ts";

/** Requests of one turn of the event loop, as under load: they share a read transaction. */
const TURN = 64;
/** Accounts whose windows are saved in one round of the service under load. */
const ROUND = 5_000;
const MEASURED = 50_000;

/** The windows of an account after its first request. */
const saved: SavedWindows = {
  minute: { used: 1, ends: Date.now() + MINUTE_MS },
  day: { used: 1, ends: Date.now() + MINUTE_MS },
};

interface Account {
  readonly digest: string;
  readonly shop: ShopName;
}

const accounts = Number(process.argv[2] ?? 1_000_000);
if (!(accounts >= 1)) throw new Error("Usage: bun bench/account-rows.ts [ACCOUNTS]");
const work = join(import.meta.dir, "work");
mkdirSync(work, { recursive: true });
const place = mkdtempSync(join(work, "account-rows-"));
try {
  const store = seedStore(
    place,
    "seed",
    1,
    Array.from({ length: accounts }, () => UNLIMITED),
  );
  fillShops(store, 1);
  await measure(store.file, store.keys.map(keyDigest));
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function measure(file: string, digests: readonly string[]): Promise<void> {
  const storage = new SqliteStorage(file);
  const [keys, limits, pets] = [new KeyStore(storage, production), new LimitStore(storage), new PetStore(storage)];
  const all: Account[] = [];
  for (const digest of digests) {
    const found = await storage.read(keys.findCaller(digest, Date.now()));
    if (!found || "error" in found) throw new Error("A key of the store is not valid.");
    all.push({ digest, shop: { accountId: found.accountId, mode: found.mode } });
  }
  const others = shuffled(all).slice(0, MEASURED);
  const same = others.map(() => others[0] as Account);
  const read = async (group: readonly Account[]) => {
    for (const { digest, shop } of group) {
      const key = await storage.read(keys.findCaller(digest, Date.now()));
      await limits.windows(shop);
      if (!key || "error" in key || !(await storage.read(pets.get(key.shop, 1n)))) throw new Error("A row is missing.");
    }
  };
  const save = async (group: readonly Account[]) => {
    const sorted = group.toSorted((a, b) => (a.shop.accountId < b.shop.accountId ? -1 : 1));
    for (let start = 0; start < sorted.length; start += SAVE_BATCH) {
      const batch = sorted.slice(start, start + SAVE_BATCH);
      await limits.save(
        "live",
        batch.map(({ shop }) => ({ owner: shop.accountId, saved })),
      );
    }
  };
  await cost(all, ROUND, save); // so that all have windows
  print("the key with its account and shop, the windows and the animal, of one account", await cost(same, TURN, read));
  print("the same, of all accounts", await cost(others, TURN, read));
  print("saving the windows, of all accounts", await cost(others, ROUND, save));
  await storage.close();
}

/** Microseconds of CPU time for each account, in groups of `size`. */
async function cost(
  of: readonly Account[],
  size: number,
  run: (group: readonly Account[]) => Promise<void>,
): Promise<number> {
  const before = process.cpuUsage();
  for (let start = 0; start < of.length; start += size) {
    await run(of.slice(start, start + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / of.length;
}

function print(what: string, microseconds: number): void {
  console.log(`${what}: ${microseconds.toFixed(1)} µs`);
}
