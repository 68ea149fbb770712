import { expect, test } from "bun:test";
import { Remembered } from "./remembered.ts";
import type { Storage } from "./storage.ts";

/** Nobody else writes to it. */
const storage = { onForeignWrite: () => {}, catchUp: () => {} } as unknown as Storage;

test("while work changes what values are made of, each is read, and none is remembered", async () => {
  const values = new Remembered<string, number>(storage, 10);
  let row = 1;
  const get = () => values.get("key", () => row);
  const committed = Promise.withResolvers<void>();
  for (let round = 0; round < 3; round++) expect(get()).toBe(1);

  const work = values.whileChanging(() => committed.promise);
  const seen = [get(), get()]; // not yet changed
  row = 2; // and from now on not to be seen in the old way any more, though the work has not ended
  seen.push(await get(), await get(), await get());
  expect(seen).toEqual([1, 1, 2, 2, 2]);
  row = 3;
  committed.resolve();
  await work;
  for (let round = 0; round < 3; round++) expect(get()).toBe(3);
  row = 4;
  expect(get()).toBe(3); // the control: it is remembered again
});

test("a value that is being read when a change begins is not remembered", async () => {
  const values = new Remembered<string, string>(storage, 10);
  const late = Promise.withResolvers<string>();
  await values.get("key", () => "old");
  const early = values.get("key", () => late.promise);
  await values.whileChanging(async () => {});
  late.resolve("old");
  expect([await early, await values.get("key", () => "new")]).toEqual(["old", "new"]);
});

test("work that fails gives memory back", async () => {
  const values = new Remembered<string, number>(storage, 10);
  let reads = 0;
  const failing = values.whileChanging(() => Promise.reject(new Error("full")));
  expect(await failing.catch(({ message }: Error) => message)).toBe("full");
  for (let round = 0; round < 5; round++) await values.get("key", () => ++reads);
  expect(reads).toBe(2); // only what is asked for twice is remembered
});
