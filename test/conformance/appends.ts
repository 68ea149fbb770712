import { beforeEach, describe, expect, test } from "bun:test";
import { shopNumber } from "../../src/contract/caller.ts";
import { eventTable } from "../../src/domains/events/events.table.ts";
import { countInCategory } from "../../src/domains/pets/counts/category-animals.store.ts";
import type { PetStatus } from "../../src/domains/pets/pets.schemas.ts";
import { petTable } from "../../src/domains/pets/pets.table.ts";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { type Appended, change, lockStatement, query, type Row } from "../../src/storage/statement.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { insertInto } from "../../src/storage/table.ts";
import { all, append, first } from "../../src/storage/transaction.ts";
import { failureOf } from "../harness/failure-of.ts";
import type { StoreUnderTest } from "./streams.ts";

interface LogRow extends Row {
  id: bigint;
  at: bigint;
  actor: string;
  name: string;
  category_id: bigint;
}
interface AmountRow extends Row {
  amount: bigint;
}

const addShop = change("INSERT INTO shops (shop, account_id, mode) VALUES (1, 'acc_shop', 'test')");
const appended = {
  count: lockStatement<[shop: number, now: number, rows: number, ...amounts: number[]], Appended>(
    `UPDATE shops SET last_at = $2, last_pet_id = last_pet_id + $3, last_event_id = last_event_id + $3,
       open_orders = open_orders + $4 WHERE shop = $1
     RETURNING last_pet_id - $3 + 1 AS id, last_at AS at, last_event_id - $3 + 1 AS log_id`,
  ),
  insert: insertInto(petTable, ["shop", "id", "added_at", "name", "category_id", "status"]),
  log: insertInto(eventTable, ["shop", "under", "at", "id", "actor", "type"]),
  countGroup: countInCategory,
};
const log = query<[], LogRow>(
  `SELECT events.id, at, actor, name, category_id FROM events JOIN pets ON pets.shop = events.shop AND pets.id = under
   WHERE events.shop = 1 ORDER BY events.id`,
);
const countsOfGroups = query<[], { animals: bigint }>(
  "SELECT animals FROM category_animals WHERE shop = 1 ORDER BY category_id",
);
const sumOfAmounts = query<[], AmountRow>("SELECT open_orders AS amount FROM shops WHERE shop = 1");
const deletePet = change<[id: bigint]>("DELETE FROM pets WHERE shop = 1 AND id = $1");

interface Values {
  readonly shop?: number;
  readonly categoryId?: number;
  readonly status?: PetStatus | null;
  readonly amount?: number;
}
const appending = (name: string, { shop = 1, categoryId = 1, status = null, amount = 1 }: Values = {}) =>
  append(appended, {
    shop: shopNumber(shop),
    now: 7,
    row: [name, categoryId, status],
    logged: [`key of ${name}`, "pet.created"],
    amounts: [amount],
    countedBy: BigInt(categoryId % 3),
  });
export const appendTo = (store: OpenStorage, name: string, values?: Values) =>
  store.write(() => appending(name, values));

/** Appends one row for each number, concurrently, to one of two connections. */
const appendNumbered = (numbers: readonly bigint[], stores: readonly [OpenStorage, OpenStorage]) =>
  Promise.all(
    numbers.map(async (number) => {
      const index = Number(number);
      const values = { categoryId: index, status: index % 2 ? ("sold" as const) : null, amount: index };
      return { index, row: await appendTo(stores[index % 2 ? 1 : 0], `Pet ${index}`, values) };
    }),
  );

const oneTo = (end: number) => Array.from({ length: end }, (_, index) => BigInt(index + 1));

/** Declares what every engine must pass to append rows. */
export function appendConformance({ storage, open }: StoreUnderTest): void {
  const append200 = async () => appendNumbered(oneTo(200), [storage(), await open()]);

  describe("an appended row", () => {
    beforeEach(() => storage().write(() => all(addShop)));

    test("gets the next id and the time, also with many at the same moment from two connections", async () => {
      const added = await append200();
      const byId = added.toSorted((one, other) => Number((one.row?.id ?? 0n) - (other.row?.id ?? 0n)));
      const rows = oneTo(200).map((id) => expect.objectContaining({ id, log_id: id, at: 7n }));
      expect(byId.map(({ row }) => row as Appended)).toEqual(rows);
    });

    test("is in the log once, without gaps, with the same time and its own values", async () => {
      const added = await append200();
      const logged = await storage().read(all(log));
      expect(logged.map(({ id }) => id)).toEqual(oneTo(200));
      for (const { index, row } of added) {
        const name = `Pet ${index}`;
        const found = logged[Number(row?.log_id) - 1];
        expect(found).toMatchObject({ at: 7n, name, actor: `key of ${name}`, category_id: BigInt(index) });
      }
    });

    test("adds its amounts to the counts of the shop", async () => {
      await append200();
      expect((await storage().read(first(sumOfAmounts)))?.amount).toBe(20_100n);
    });

    test("is counted with those of its group", async () => {
      await append200();
      const counts = (await storage().read(all(countsOfGroups))).map(({ animals }) => animals);
      expect(counts).toEqual([66n, 67n, 67n]);
    });

    test("is refused alone, and leaves no gap", async () => {
      const statuses = [null, "flying", "sold", "flying", "sold"];
      const failures = statuses.map((status) =>
        failureOf(() => appendTo(storage(), "Rex", { status: status as PetStatus | null })),
      );
      const refused = expect.any(StorageUnavailable);
      expect(await Promise.all(failures)).toEqual([undefined, refused, undefined, refused, undefined]);
      expect((await storage().read(all(log))).map(({ id }) => id)).toEqual(oneTo(3));
      expect((await storage().read(first(sumOfAmounts)))?.amount).toBe(3n);
    });

    test("may follow other steps of its transaction", async () => {
      const added = await storage().write(function* () {
        const before = yield* all(log);
        return [before.length, yield* appending("Rex")];
      });
      expect(added).toEqual([0, expect.objectContaining({ id: 1n })]);
    });

    test("gets no id that another had, even if the newest row was deleted", async () => {
      const newest = (await appendTo(storage(), "Tom"))?.id as bigint;
      await storage().write(() => all(deletePet, newest));
      await storage().close();
      expect((await appendTo(await open(), "Kim"))?.id).toBe(newest + 1n);
    });

    test("is not added to a shop that does not exist", async () => {
      expect(await appendTo(storage(), "Rex", { shop: 2 })).toBeUndefined();
      expect(await storage().read(all(log))).toEqual([]);
    });
  });
}
