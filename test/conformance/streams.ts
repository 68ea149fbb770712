import { describe, expect, test } from "bun:test";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { change, query, type Row } from "../../src/storage/statement.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { all, first } from "../../src/storage/transaction.ts";
import { failureOf } from "../harness/failure-of.ts";

/** The store of the current test, and a way to open it once more. */
export interface StoreUnderTest {
  readonly storage: () => OpenStorage;
  readonly open: () => Promise<OpenStorage>;
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
const addPet = change<[id: number, name: string, categoryId: number, status: string | null]>(
  `INSERT INTO pets (shop, id, added_at, ${columns}) VALUES (1, $1, 0, $2, $3, $4)`,
);
/** Each animal has a different id. */
let lastId = 0;
const petsFrom = query<[categoryId: number], PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = 1 AND category_id >= $1 ORDER BY id`,
);
const countPets = query<[], CountRow>("SELECT count(*) AS figure FROM pets");
const nonsense = query("SELECT nothing FROM nowhere");

const row = (line: number) => [line, `Pet ${line}`, line, line % 2 === 0 ? "sold" : null] as const;
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => row(from + index));

const petsIn = async (store: OpenStorage) => (await store.read(first(countPets)))?.figure;
const addPets = (store: OpenStorage, from: number, to: number) =>
  store.write(function* () {
    for (const [, ...values] of rows(from, to)) yield* all(addPet, ++lastId, ...values);
  });
const collect = async (stream: AsyncIterable<readonly Row[]>) => (await Array.fromAsync(stream)).flat();

/** Declares what every engine must pass to stream many rows. */
export function streamConformance({ storage, open }: StoreUnderTest): void {
  describe("a stream of rows", () => {
    test("returns all of them, in order and exact", async () => {
      await addPets(storage(), 1, 1_700);
      const streamed = await collect(storage().stream(petsFrom, 3));
      expect(streamed).toEqual([...(await storage().read(all(petsFrom, 3)))]);
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
