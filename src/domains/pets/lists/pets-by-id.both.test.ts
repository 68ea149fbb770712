// A page by status is read from nearby ids or by the index. Which of them, its reader cannot tell.

import { afterAll, beforeAll, expect, test } from "bun:test";
import * as fc from "fast-check";
import { firstStatementOf } from "../../../../test/harness/stepwise-read.ts";
import { newTestStore, type TestStore } from "../../../../test/harness/test-store.ts";
import { unchecked } from "../../../../test/harness/unchecked-pets.ts";
import { shopNumber } from "../../../contract/caller.ts";
import type { Paged } from "../../../contract/handler.ts";
import { INT64_MAX, INT64_MIN } from "../../../contract/schemas.ts";
import type { OpenStorage } from "../../../storage/storage.ts";
import type { Query } from "../../../storage/transaction.ts";
import { createShops, shopOf } from "../../shops/shops.store.ts";
import { petHandlers } from "../pets.handlers.ts";
import type { PetStatus } from "../pets.schemas.ts";
import { PetStore } from "../pets.store.ts";
import { PetPages } from "./pets-by-id.store.ts";

interface Animal {
  readonly id: bigint;
  readonly status: PetStatus | undefined;
  readonly hasMetadata: boolean;
}

let store: TestStore;
let storage: OpenStorage;
let shop: number;

/** Statuses close together, far apart and alternating; gaps between ids; metadata; the lowest and the highest ids. */
const animals: readonly Animal[] = [
  { id: INT64_MIN + 1n, status: "sold", hasMetadata: false },
  ...run(1n, 60, () => "available"),
  ...run(61n, 40, (index) => (index % 2 === 0 ? "available" : "pending")),
  ...run(101n, 150, (index) => (index % 50 === 0 ? "available" : "sold")),
  ...run(1_000_000n, 40, (index) => (index % 3 === 0 ? undefined : "available")),
  ...run(1_000_040n, 30, () => "pending", true),
  ...run(INT64_MAX - 9n, 10, (index) => (index % 2 === 0 ? "available" : "sold")),
];

function run(from: bigint, length: number, statusOf: (index: number) => Animal["status"], hasMetadata = false) {
  return Array.from({ length }, (_, index) => ({ id: from + BigInt(index), status: statusOf(index), hasMetadata }));
}

beforeAll(async () => {
  store = await newTestStore();
  storage = await store.open();
  await storage.write(() => createShops("acc_1"));
  shop = (await storage.read(shopOf("acc_1", "test"))) as number;
  const rows = animals.map(
    ({ id, status, hasMetadata }) =>
      `(${shop}, ${id}, 'Rex', 1, ${status === undefined ? "NULL" : `'${status}'`}, 0, ${hasMetadata ? 1 : "NULL"})`,
  );
  await store.run(
    `INSERT INTO pets (shop, id, name, category_id, status, added_at, has_metadata) VALUES ${rows.join(", ")}`,
  );
  const pairs = animals
    .filter(({ hasMetadata }) => hasMetadata)
    .map(({ id }) => `(${shop}, 'pet', ${id}, '{"a":"b"}')`);
  await store.run(`INSERT INTO metadata (shop, kind, id, pairs) VALUES ${pairs.join(", ")}`);
});
afterAll(async () => {
  await storage.close();
  await store.remove();
});

test("a page has the next animals with the status, wherever they lie", async () => {
  const list = new PetPages(storage);
  const pages = fc.record({
    status: fc.constantFrom<PetStatus>("available", "pending", "sold"),
    after: fc.constantFrom(...animals.map(({ id }) => id), 0n, 500n, INT64_MIN, INT64_MAX - 40n, INT64_MAX),
    limit: fc.constantFrom(1, 2, 5, 20, 100),
  });
  await fc.assert(
    fc.asyncProperty(pages, async ({ status, after, limit }) => {
      const rest = animals.filter((one) => one.status === status && one.id > after);
      const items = rest.slice(0, limit).map(({ id, hasMetadata }) => ({
        id,
        name: "Rex",
        categoryId: 1n,
        status,
        metadata: hasMetadata ? { a: "b" } : undefined,
      }));
      const next = rest.length > limit ? { next: items.at(-1)?.id } : {};
      const { positionAt, lasts, ...page } = await storage.read(list.page(shopNumber(shop), after, limit, { status }));
      expect([page, lasts !== undefined]).toEqual([{ items, ...next }, "next" in next] as never);
      expect(items.map((_, place) => positionAt(place))).toEqual(items.map(({ id }) => id));
    }),
    { numRuns: 400 },
  );
});

test("the default order is read and cached in the same way if a client asks for it", async () => {
  const { listPets } = petHandlers(new PetStore(storage, unchecked)) as unknown as {
    listPets: (input: object) => Query<Paged>;
  };
  const list = (sort?: string) => listPets({ caller: { shop }, query: { limit: 2, sort }, after: undefined });
  expect(firstStatementOf(list("id"))).toBe(firstStatementOf(list()));
  expect(await storage.read(list("id"))).toMatchObject({ lasts: true });
  expect(await storage.read(list("-id"))).toMatchObject({ lasts: undefined });
});
