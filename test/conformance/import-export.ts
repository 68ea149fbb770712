import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { type Row, type SqlParameter, statement } from "../../src/storage/statement.ts";
import type { StagingTable, Storage } from "../../src/storage/storage.ts";
import { all, first } from "../../src/storage/transaction.ts";
import { failureOf } from "../harness/failure-of.ts";

/** The store of the current test, and a way to open it once more. */
export interface StoreUnderTest {
  readonly storage: () => Storage;
  readonly open: () => Promise<Storage>;
}

interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: string | null;
}
interface CountRow extends Row {
  figure: bigint;
}

const columns = "name, category_id, status";
const addPet = statement(`INSERT INTO pets (shop, id, added_at, ${columns}) VALUES (1, $1, 0, $2, $3, $4)`);
/** Each animal has a different id. */
let lastId = 0;
const petsFrom = statement<PetRow>(`SELECT ${columns} FROM pets WHERE shop = 1 AND category_id >= $1 ORDER BY id`);
const countPets = statement<CountRow>("SELECT count(*) AS figure FROM pets");
const countStaged = statement<CountRow>("SELECT count(*) AS figure FROM staged_pets");
const takeOver = statement(
  `INSERT INTO pets (shop, id, added_at, ${columns}) SELECT 1, line, 0, ${columns} FROM staged_pets ORDER BY line`,
);
const nonsense = statement("SELECT nothing FROM nowhere");

const table = {
  name: "staged_pets",
  columns: { line: "integer", name: "text", category_id: "integer", status: "text" },
} as const;

const row = (line: number): SqlParameter[] => [line, `Pet ${line}`, BigInt(line), line % 2 === 0 ? "sold" : null];
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => row(from + index));

const petsIn = async (store: Storage) => (await store.first(countPets))?.figure;
const addPets = (store: Storage, from: number, to: number) =>
  store.write(function* () {
    for (const [, ...values] of rows(from, to)) yield* all(addPet, ++lastId, ...values);
  });
const collect = async (stream: AsyncIterable<readonly Row[]>) => (await Array.fromAsync(stream)).flat();

/** Declares what every engine must pass to import many rows into a store, and export many. */
export function importExportConformance({ storage, open }: StoreUnderTest): void {
  describe("a staging table", () => {
    let staging: StagingTable;
    beforeEach(async () => {
      staging = await storage().createStagingTable(table);
    });
    afterEach(() => staging.close());

    const staged = async () => (await staging.all(countStaged))[0]?.figure;

    test("stores rows beside the store, which a transaction copies", async () => {
      await staging.add(rows(1, 1_234));
      await staging.add(rows(1_235, 1_236));
      await staging.add([]);
      expect([await petsIn(storage()), await staged()]).toEqual([0n, 1_236n]);
      await staging.write(() => all(takeOver));
      expect(await storage().all(petsFrom, 1_235)).toEqual([
        { name: "Pet 1235", category_id: 1_235n, status: null },
        { name: "Pet 1236", category_id: 1_236n, status: "sold" },
      ] as PetRow[]);
      expect(await petsIn(await open())).toBe(1_236n);
    });

    test("keeps integers exact and texts unchanged", async () => {
      const name = '🐕 «Ñandú» \r\n "東京" o\'Hara $1';
      await staging.add([[-(2n ** 63n), name, 2n ** 63n - 1n, null]]);
      await staging.write(() => all(takeOver));
      expect(await storage().all(petsFrom, 2)).toEqual([
        { name, category_id: 2n ** 63n - 1n, status: null },
      ] as PetRow[]);
    });

    test("is invisible to others, and blocks nobody", async () => {
      const other = await open();
      await staging.add(rows(1, 10));
      expect(await failureOf(() => other.all(countStaged))).toBeInstanceOf(StorageUnavailable);
      const theirs = await other.createStagingTable(table);
      await theirs.add(rows(1, 3));
      expect([await staged(), (await theirs.write(() => first(countStaged)))?.figure]).toEqual([10n, 3n]);
      await theirs.close();
    });

    test("can be filled while others write and one reads", async () => {
      const other = await open();
      for (let round = 0; round < 5; round++) {
        const written = addPets(other, 1, 20);
        await petsIn(storage());
        await staging.add(rows(round * 10 + 1, round * 10 + 10));
        await written;
      }
      expect([await staged(), await petsIn(storage())]).toEqual([50n, 100n]);
    });

    test("adds nothing to the store if its transaction fails", async () => {
      await staging.add(rows(1, 10));
      const write = () =>
        staging.write(function* () {
          yield* all(takeOver);
          yield* all(nonsense);
        });
      expect(await failureOf(write)).toBeInstanceOf(StorageUnavailable);
      expect([await petsIn(storage()), await staged()]).toEqual([0n, 10n]);
    });

    test("refuses all rows of a batch if a key exists", async () => {
      await staging.add(rows(1, 10));
      expect(await failureOf(() => staging.add([...rows(11, 300), row(5)]))).toBeInstanceOf(StorageUnavailable);
      expect(await staged()).toBe(10n);
    });

    test("is deleted when it is closed, and can be created again", async () => {
      await staging.add(rows(1, 10));
      await staging.close();
      expect(await failureOf(() => storage().all(countStaged))).toBeInstanceOf(StorageUnavailable);
      staging = await storage().createStagingTable(table);
      expect(await staged()).toBe(0n);
    });
  });

  describe("a stream of rows", () => {
    test("returns all of them, in order and exact", async () => {
      await addPets(storage(), 1, 1_700);
      const streamed = await collect(storage().stream(petsFrom, 3));
      expect(streamed).toEqual(await storage().all(petsFrom, 3));
      expect(await collect(storage().stream(petsFrom, 5_000))).toEqual([]);
    });

    test("is a snapshot of the store, also while others write", async () => {
      await addPets(storage(), 1, 1_700);
      const other = await open();
      let seen = 0;
      for await (const batch of storage().stream(petsFrom, 1)) {
        seen += batch.length;
        await addPets(other, 1, 10);
        await addPets(storage(), 1, 10);
      }
      expect(seen).toBe(1_700);
      expect(await petsIn(storage())).toBeGreaterThan(1_700n);
    });

    test("can be ended early, and leaves the store usable", async () => {
      await addPets(storage(), 1, 1_700);
      for await (const batch of storage().stream(petsFrom, 1)) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
      await addPets(storage(), 1, 1);
      expect(await petsIn(storage())).toBe(1_701n);
    });

    test("fails with StorageUnavailable if it cannot be read", async () => {
      expect(await failureOf(() => collect(storage().stream(nonsense)))).toBeInstanceOf(StorageUnavailable);
    });
  });
}
