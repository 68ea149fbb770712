// The lock of a data folder while several processes want it at the same moment.
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServingLock, StoreServed } from "./serving-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a process gets the lock while another one that will be refused looks at it", () => {
  // SQLite takes this shared lock before any other: it is all that a refused process ever has.
  const other = new Database(join(folder, "petstore.lock"), { create: true });
  other.run("BEGIN");
  other.query("SELECT count(*) FROM sqlite_schema").get();
  const store = join(folder, "petstore.db");
  const lock = new ServingLock(store);
  expect(() => new ServingLock(store)).toThrow(StoreServed);
  expect(() => other.run("CREATE TABLE t (x)")).toThrow("locked");
  other.close();
  lock.release();
  new ServingLock(store).release();
});

test("two stores in one folder can be served at once", () => {
  const locks = ["a.db", "b.db"].map((name) => new ServingLock(join(folder, name)));
  expect(() => new ServingLock(join(folder, "a.db"))).toThrow(StoreServed);
  for (const lock of locks) lock.release();
});
