import { expect, test } from "bun:test";
import { shopNumber } from "../../contract/caller.ts";
import type { Input } from "../../contract/handler.ts";
import type { CompiledRead } from "../compiled-operation.ts";
import type { Store } from "../interfaces.ts";
import { AT_ONCE, readLongPage } from "./long-pages.ts";

test("few long pages of a shop are read at once, and other shops do not wait for the rest", async () => {
  const [busy, other] = [shopNumber(7_001), shopNumber(7_002)];
  const waiting = new Map<number | undefined, (() => void)[]>();
  const read: Store["read"] = (_steps, payer) =>
    new Promise((resolve) => waiting.getOrInsertComputed(payer, () => []).push(() => resolve({ items: [] } as never)));
  const compiled = { read: () => undefined, render: () => ({ text: "[]" }) } as unknown as CompiledRead;
  const page = (shop: number) =>
    readLongPage(
      compiled,
      { caller: { shop }, pageBytes: 262_144, query: { limit: 100 } } as unknown as Input,
      { read } as Store,
    );
  const pages = [...Array.from({ length: 3 * AT_ONCE }, () => page(busy)), page(other)];
  let ended = 0;
  for (const one of pages) void one.then(() => ended++);
  const counts: number[] = [];
  while (ended < pages.length) {
    await new Promise(setImmediate);
    counts.push(waiting.get(busy)?.length ?? 0);
    if (counts.length === 1) expect(waiting.get(other)).toHaveLength(1);
    for (const [shop, begun] of waiting) {
      waiting.delete(shop);
      for (const end of begun) end();
    }
  }
  expect(counts.slice(0, 1)).toEqual([AT_ONCE]);
  expect(Math.max(...counts)).toBe(AT_ONCE);
});
