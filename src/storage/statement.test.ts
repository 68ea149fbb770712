import { expect, test } from "bun:test";
import { change, lockStatement, query } from "./statement.ts";
import type { Storage } from "./storage.ts";
import { all, first } from "./transaction.ts";

const rename = change<[name: string, shop: number, id: bigint]>("UPDATE pets SET name = $1 WHERE …");
const namesakes = query<[shop: number, name: string]>("SELECT id FROM pets WHERE …");
const count = query("SELECT count(*) AS pets FROM pets");

// The compiler checks these lines: it reports an error if it accepts one below `@ts-expect-error`.
const streams = (storage: Storage) => [
  storage.stream(namesakes, 1, "Rex"),
  // @ts-expect-error -- the name is missing
  storage.stream(namesakes, 1),
  // @ts-expect-error -- the shop and the name are swapped
  storage.stream(namesakes, "Rex", 1),
];
const steps = (shopOrName: number | string) => [
  all(rename, "Rex", 1, 7n),
  // @ts-expect-error -- one too many
  all(rename, "Rex", 1, 7n, "sold"),
  // @ts-expect-error -- an id is a bigint
  first(rename, "Rex", 1, 7),
  // @ts-expect-error -- it may be a text
  first(rename, "Rex", shopOrName, 7n),
  // @ts-expect-error -- it has no parameters
  all(count, 1),
];
// @ts-expect-error -- the first parameter of a lock names its owner
const lock = () => lockStatement<[id: bigint, shop: number]>("UPDATE …");

test("a statement gets as many parameters as it has, each of its own kind", () => {
  expect([streams, steps, lock]).toBeArray();
});
