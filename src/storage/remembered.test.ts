import { expect, test } from "bun:test";
import { Remembered } from "./remembered.ts";
import type { Storage } from "./storage.ts";

/** Nobody else writes to it. */
let isExact = true;
const storage = { noticesEveryWrite: true, onForeignWrite: () => {}, catchUp: () => isExact } as unknown as Storage;

test("what is asked for twice is remembered until it is forgotten", () => {
  const values = new Remembered<string, number>(storage, 10);
  let row = 1;
  const get = () => values.get("key", () => row++);
  expect([get(), get(), get(), get()]).toEqual([1, 2, 2, 2]);
  values.forgetAll();
  expect([get(), get(), get()]).toEqual([3, 3, 3]);
});

test("a value that is being read when it is forgotten is not remembered", async () => {
  const values = new Remembered<string, string>(storage, 10);
  const late = Promise.withResolvers<string>();
  await values.get("key", () => "old");
  const early = values.get("key", () => late.promise);
  values.forgetAll();
  late.resolve("old");
  expect([await early, await values.get("key", () => "new")]).toEqual(["old", "new"]);
});

test("nothing is given from memory, nor remembered, while the store says that it is not exact", () => {
  const values = new Remembered<string, number>(storage, 10);
  let row = 1;
  const get = () => values.get("key", () => row++);
  expect([get(), get(), get()]).toEqual([1, 2, 2]);
  isExact = false;
  expect([get(), get()]).toEqual([3, 4]);
  values.forgetAll();
  isExact = true;
  expect([get(), get()]).toEqual([5, 5]);
});
