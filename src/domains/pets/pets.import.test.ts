import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { failureOf } from "../../../test/harness/failure-of.ts";
import { newTestStore, onPostgres, type TestStore } from "../../../test/harness/test-store.ts";
import { CommitUnknown } from "../../storage/errors.ts";
import { type Row, statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Transaction } from "../../storage/transaction.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { operator } from "../events/author.ts";
import { EventLog } from "../events/events.store.ts";
import { shopOf } from "../shops/shops.store.ts";
import { PetExportStore } from "./pets.export.store.ts";
import { PetImportStore } from "./pets.import.store.ts";
import { ImportFailed, type ImportOptions, importPets } from "./pets.import.ts";
import type { Pet } from "./pets.schemas.ts";
import { PetStore } from "./pets.store.ts";

interface CategoryRow extends Row {
  category_id: bigint;
  animals: bigint;
}
interface CountRow extends Row {
  animals: bigint;
}

const addCategory = statement("INSERT INTO categories (shop, id, name, name_key) VALUES ($1, $2, $3, $3)");
const kept = statement<CategoryRow>("SELECT category_id, animals FROM category_animals ORDER BY category_id");
const counted = statement<CategoryRow>(
  "SELECT category_id, count(*) AS animals FROM pets GROUP BY category_id ORDER BY category_id",
);
const countPets = statement<CountRow>("SELECT count(*) AS animals FROM pets");

let place: TestStore;
let storage: Storage;
let shop: number;
/** A shop of another account. */
let other: number;
async function newShop(): Promise<number> {
  const { id } = await new AccountStore(storage).createAccount("x", "business", undefined, Date.now());
  return (await shopOf(storage, id, "test")) as number;
}
beforeEach(async () => {
  place = await newTestStore();
  storage = await place.open();
  [other, shop] = [await newShop(), await newShop()];
});
afterEach(async () => {
  await storage.close();
  await place.remove();
});

interface Options extends Partial<ImportOptions> {
  /** The shop; by default `shop`. */
  readonly into?: number;
  readonly isStrict?: boolean;
  /** Called after the whole file is read and checked, before all animals or those of a part are added. */
  readonly beforeAdding?: () => Promise<unknown>;
}

async function importText(
  text: string | AsyncIterable<Uint8Array>,
  { into, isStrict = false, beforeAdding, ...more }: Options = {},
) {
  const options = { format: "jsonl", ids: undefined, inParts: false, onProgress: () => {}, ...more } as const;
  const store = await PetImportStore.open(storage, into ?? shop, { ids: options.ids, isStrict });
  const [addAll, addPart] = [store.addAll.bind(store), store.addPart.bind(store)];
  store.addAll = async () => {
    await beforeAdding?.();
    return addAll();
  };
  store.addPart = async (...part) => {
    await beforeAdding?.();
    return addPart(...part);
  };
  async function* source() {
    if (typeof text !== "string") yield* text;
    else
      for (let start = 0; start < text.length; start += 100_000) yield Buffer.from(text.slice(start, start + 100_000));
  }
  try {
    const { faults, ...result } = await importPets(store, source(), {
      stop: new AbortController().signal,
      ...options,
    });
    return { ...result, faults: faults.reported, total: faults.total };
  } finally {
    await store.close();
  }
}

const pets = async () => (await new PetStore(storage).page(shop, undefined, 1_000_000)).items;
const rex = { name: "Rex", categoryId: 1n };
const addRex = async () => (await storage.write(() => new PetStore(storage).add(operator(shop), rex))) as Pet;
const addAndRemove = async () => removePet((await addRex()).id);
const givenBefore = (id: number, last: number) =>
  `/id ${id} is not above ${last}, the last id that the shop has assigned`;
const removePet = (id: bigint) => storage.write(() => new PetStore(storage).delete(operator(shop), id, () => true));
const count = async () => Number((await storage.first(countPets))?.animals);
const names = async () => (await pets()).map(({ name }) => name);
const lines = (number: number, from = 1) =>
  Array.from({ length: number }, (_, index) => `{"name":"Pet ${from + index}","categoryId":${index % 3}}\n`).join("");
/** Imports until this many animals are added, then stops. */
async function stopAt(text: string, animals: number, more: Options = {}) {
  const stop = new AbortController();
  const onProgress: ImportOptions["onProgress"] = ({ added }) => {
    if (added !== undefined && added >= animals) stop.abort();
  };
  return failureOf(importText(text, { ...more, inParts: true, stop: stop.signal, onProgress }));
}

/** The number of steps of the transaction that adds all these animals. */
async function stepsOf(text: string, isStrict: boolean): Promise<number> {
  let steps = 0;
  const create = storage.createStagingTable.bind(storage);
  const counting = spyOn(storage, "createStagingTable").mockImplementation(async (table) => {
    const staging = await create(table);
    const write = staging.write.bind(staging);
    return Object.assign(staging, {
      write: <T>(body: () => Transaction<T>) =>
        write(function* () {
          const running = body();
          steps = 0; // the body may run again
          let next = running.next([]);
          for (; !next.done; next = running.next(yield next.value)) steps++;
          return next.value;
        }),
    });
  });
  await importText(text, { isStrict });
  counting.mockRestore();
  return steps;
}

const loseAnswer = () => Promise.reject(new CommitUnknown("The answer was lost"));
const withoutCats = () => `DELETE FROM categories WHERE shop = ${shop} AND id = 2`;
const removeCats = () => place.run(withoutCats());
const shopIsGone = "The sandbox was reset, or the account was deleted. The shop has no animal of the file.";
const reset = () => `UPDATE shops SET account_id = NULL WHERE shop = ${shop}`;
/** Changes the store if one part has been added. */
const afterFirstPart = async (sql: string) => (await count()) === 10_000 && place.run(sql);
const animal = (id: bigint | number, name = `Pet ${id}`) => `{"id":${id},"name":"${name}","categoryId":1}\n`;
const none = { added: 0, before: 0, total: 0 };

const events = async () => (await new EventLog(storage).first(shop, 100_000)).items;

describe("the log reports an import", () => {
  test("with an event for each of up to 10,000 animals", async () => {
    await addRex();
    await importText(lines(10_000));
    const [, ...imported] = await events();
    expect(imported.map(({ id }) => id)).toEqual(Array.from({ length: 10_000 }, (_, index) => BigInt(index + 2)));
    const added = (await pets())
      .slice(1)
      .map((pet) => JSON.parse(JSON.stringify(pet, (_, value) => (typeof value === "bigint" ? Number(value) : value))));
    expect(imported.map(({ data }) => data)).toEqual(added);
    expect(new Set(imported.map(({ type, actor }) => `${type} ${actor.kind}`))).toEqual(
      new Set(["pet.created operator"]),
    );
  });

  test("with the ids that it keeps", async () => {
    await importText(animal(7) + animal(5), { ids: "keep", inParts: true });
    expect((await events()).map(({ subject, data }) => [subject.id, data?.["name"]])).toEqual([
      ["7", "Pet 7"],
      ["5", "Pet 5"],
    ]);
  });

  test.each([undefined, "keep", "new"] as const)("with the metadata of the animals, ids: %p", async (ids) => {
    const line = (id: number, more = "") => `{${ids ? `"id":${id},` : ""}"name":"Pet ${id}","categoryId":1${more}}\n`;
    const text =
      line(5, ',"metadata":{"constructor":"a"}') +
      line(6) +
      line(7, ',"metadata":{}') +
      line(9, ',"metadata":{"b":"c"}');
    await importText(text, { ids, inParts: true });
    const expected: unknown[] = [{ constructor: "a" }, undefined, undefined, { b: "c" }];
    expect((await pets()).map((pet) => pet.metadata as unknown)).toEqual(expected);
    expect((await events()).map(({ data }) => data?.["metadata"])).toEqual(expected);
    expect((await place.rows("SELECT id FROM metadata")).length).toBe(2);
  });

  test.each([false, true])("with the number and the ids of more animals, in parts: %p", async (inParts) => {
    await addRex();
    await importText(lines(25_001), { inParts });
    const parts = inParts
      ? [
          [10_000, 2, 10_001],
          [10_000, 10_002, 20_001],
          [5_001, 20_002, 25_002],
        ]
      : [[25_001, 2, 25_002]];
    expect((await events()).slice(1).map(({ type, data }) => [type, data])).toEqual(
      parts.map(([animals, firstId, lastId]) => ["import.completed", { animals, firstId, lastId }]) as never,
    );
  });
});

describe("an import", () => {
  test("adds all animals in the order of the file, and updates the counts of the categories", async () => {
    await addRex();
    expect(await importText(lines(5_000))).toEqual({ added: 5_000, before: 0, faults: [], total: 0 });
    const found = await pets();
    expect(found.map(({ name }) => name)).toEqual(["Rex", ...Array.from({ length: 5_000 }, (_, n) => `Pet ${n + 1}`)]);
    expect(found[1]).toEqual({ id: 2n, name: "Pet 1", categoryId: 0n });
    expect(await storage.all(kept)).toEqual(await storage.all(counted));
    expect((await addRex()).id).toBe(5_002n);
  });

  test("adds the animals to its own shop only, with ids of that shop", async () => {
    await importText(lines(3), { into: other, inParts: true });
    expect([await pets(), await importText(lines(3), { inParts: true })]).toEqual([
      [],
      { added: 3, before: 0, faults: [], total: 0 },
    ]);
    expect((await pets()).map(({ id }) => id)).toEqual([1n, 2n, 3n]);
  });

  test("does not reuse the ids of deleted animals", async () => {
    await addAndRemove();
    await importText(lines(2));
    expect((await pets()).map(({ id }) => id)).toEqual([2n, 3n]);
  });

  test.each([
    [false, "Check the store first."],
    [true, "Run the same command again: it adds nothing twice."],
  ])("whose commit gets no response does not report that nothing was added (in parts: %p)", async (inParts, advice) => {
    const create = storage.createStagingTable.bind(storage);
    const failing = spyOn(storage, "createStagingTable").mockImplementation(async (table) =>
      Object.assign(await create(table), { write: loseAnswer }),
    );
    const failure = await failureOf(importText(lines(1), { inParts }));
    failing.mockRestore();
    expect(failure?.message).toBe(
      `The store failed: The answer was lost. The last animals may or may not have been added. ${advice}`,
    );
  });

  test("without animals adds nothing", async () => {
    expect(await importText("")).toMatchObject(none);
    expect(await importText("", { inParts: true })).toMatchObject(none);
  });

  test.each([false, true])(
    "of a file with a bad line adds nothing and names them all (in parts: %p)",
    async (inParts) => {
      const text = `${lines(12_000)}{"name":"Tom"}\n${lines(10)}nonsense\n`;
      expect(await importText(text, { inParts })).toEqual({
        added: 0,
        before: 0,
        faults: [
          { line: 12_001, message: "/categoryId is required" },
          { line: 12_012, message: "is not valid JSON" },
        ],
        total: 2,
      });
      expect(await count()).toBe(0);
    },
  );

  test("lists fifty bad lines and counts the others", async () => {
    const { faults, total } = await importText("nonsense\n".repeat(1_234));
    expect([faults.length, faults[49]?.line, total]).toEqual([50, 50, 1_234]);
  });

  test.each([false, true])("that is stopped while it reads adds nothing (in parts: %p)", async (inParts) => {
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    const failure = await failureOf(importText(lines(20_000), { stop: stop.signal, onProgress, inParts }));
    expect(failure).toBeInstanceOf(ImportFailed);
    expect(failure?.message).toBe("It was stopped. Nothing was added.");
    expect(await count()).toBe(0);
  });

  // Only the embedded engine has file pages.
  if (!onPostgres) {
    test("into a store without space adds nothing, and reports it", async () => {
      const [size] = await storage.all(statement("PRAGMA page_count"));
      await storage.all(statement(`PRAGMA max_page_count = ${Number(size?.["page_count"]) + 5}`));
      const failure = await failureOf(importText(lines(20_000)));
      expect(failure?.message).toBe("The store failed: database or disk is full. Nothing was added.");
      expect([await count(), await storage.all(kept)]).toEqual([0, []]);
      await storage.all(statement("PRAGMA max_page_count = 1000000"));
      expect(await importText(lines(20_000))).toMatchObject({ added: 20_000 });
    });
  }

  test("does not wait for a process that locks the store while it reads", async () => {
    const unlock = await place.lock();
    let staged = 0;
    const onProgress: ImportOptions["onProgress"] = (progress) => {
      staged = progress.staged;
    };
    await importText(lines(5_000), { onProgress, beforeAdding: unlock });
    expect([staged, await count()]).toEqual([5_000, 5_000]);
  });
});

describe("an import in parts", () => {
  test("resumes after the last part when it was stopped, and adds each animal once", async () => {
    const text = lines(35_000);
    expect((await stopAt(text, 10_000))?.message).toBe(
      "It was stopped. Added so far: 10,000 animals. The same command continues there.",
    );
    expect(await count()).toBe(10_000);
    await addRex();
    expect(await importText(text, { inParts: true })).toMatchObject({ added: 25_000, before: 10_000 });
    const found = await names();
    expect([found.length, new Set(found).size]).toEqual([35_001, 35_001]);
    expect(await new PetExportStore(storage, shop).count()).toBe(35_001n);
    expect(await storage.all(kept)).toEqual(await storage.all(counted));
  });

  test("does not claim to have added anything to a sandbox that is reset during the import", async () => {
    const text = lines(15_000);
    const failure = await failureOf(importText(text, { inParts: true, beforeAdding: () => afterFirstPart(reset()) }));
    expect(failure).toBeInstanceOf(ImportFailed);
    expect(failure?.message).toBe(shopIsGone);
  });

  test("blames no line for a category that was deleted with the sandbox", async () => {
    await place.run(reset());
    await place.run(`DELETE FROM categories WHERE shop = ${shop}`);
    const failure = await failureOf(importText(lines(3), { inParts: true, isStrict: true }));
    expect(failure?.message).toBe(shopIsGone);
  });

  test("adds nothing when it is started again after its end", async () => {
    await importText(lines(12_000), { inParts: true });
    expect(await importText(lines(12_000), { inParts: true })).toMatchObject({ added: 0, before: 12_000 });
    expect(await count()).toBe(12_000);
    expect((await stopAt(lines(1), 1))?.message).toContain("Added so far: 1 animal.");
  });

  test("is another one if a byte of the file differs, and differs from an import at once", async () => {
    await importText(lines(10), { inParts: true });
    expect(await importText(lines(10).replace("Pet 3", "Pet X"), { inParts: true })).toMatchObject({
      added: 10,
      before: 0,
    });
    expect(await importText(lines(10))).toMatchObject({ added: 10, before: 0 });
    expect(await count()).toBe(30);
  });

  test("adds each animal once, even if two processes run it concurrently", async () => {
    const text = lines(55_000);
    const [first, second] = [storage, await place.open()];
    const imports = [first, second].map((store) => {
      storage = store;
      return importText(text, { inParts: true });
    });
    await Promise.all(imports);
    storage = first;
    await second.close();
    const found = await names();
    expect([found.length, new Set(found).size]).toEqual([55_000, 55_000]);
  });
});

describe("an import with strict categories", () => {
  beforeEach(() => storage.write(() => all(addCategory, shop, 1, "Dogs")));
  const text = '{"name":"Rex","categoryId":1}\n{"name":"Tom","categoryId":2}\n{"name":"Ida","categoryId":1}\n';

  test("refuses a line with an unknown category", async () => {
    expect(await importText(text, { isStrict: true })).toMatchObject({
      added: 0,
      faults: [{ line: 2, message: "/categoryId is not the id of a category" }],
    });
    await storage.write(() => all(addCategory, shop, 2, "Cats"));
    expect(await importText(text, { isStrict: true })).toMatchObject({ added: 3, faults: [] });
  });

  test("adds nothing if a category is deleted before the animals are added", async () => {
    await storage.write(() => all(addCategory, shop, 2, "Cats"));
    const failure = await failureOf(importText(text, { isStrict: true, beforeAdding: removeCats }));
    expect(failure?.message).toBe("Another process changed the store. Category 2 was deleted. Nothing was added.");
    expect(await count()).toBe(0);
  });

  describe("in parts ignores a category that only animals of earlier parts are in, if it is deleted", () => {
    const file = '{"name":"Tom","categoryId":2}\n' + '{"name":"Rex","categoryId":1}\n'.repeat(19_999);

    test("before it continues", async () => {
      await storage.write(() => all(addCategory, shop, 2, "Cats"));
      await stopAt(file, 10_000, { isStrict: true });
      await removeCats();
      expect(await importText(file, { isStrict: true, inParts: true })).toMatchObject({
        added: 10_000,
        before: 10_000,
        faults: [],
      });
    });

    test("between two parts", async () => {
      await storage.write(() => all(addCategory, shop, 2, "Cats"));
      const result = await importText(file, {
        isStrict: true,
        inParts: true,
        beforeAdding: () => afterFirstPart(withoutCats()),
      });
      expect(result).toMatchObject({ added: 20_000 });
    });
  });

  test("in parts stops before the part whose category was deleted", async () => {
    await storage.write(() => all(addCategory, shop, 2, "Cats"));
    const file = `${'{"name":"Rex","categoryId":1}\n'.repeat(10_000)}{"name":"Tom","categoryId":2}\n`;
    const options = { isStrict: true, inParts: true, beforeAdding: () => afterFirstPart(withoutCats()) };
    const failure = await failureOf(importText(file, options));
    expect(failure?.message).toBe(
      "Another process changed the store. Category 2 was deleted. Added so far: 10,000 animals. The same command continues there.",
    );
  });

  test("accepts a category that is added while the file is read, but none of another shop", async () => {
    await storage.write(() => all(addCategory, other, 2, "Cats"));
    expect(await importText(text, { isStrict: true })).toMatchObject({ added: 0, total: 1 });
    let isAdded: Promise<unknown> | undefined;
    const onProgress = () => void (isAdded ??= storage.write(() => all(addCategory, shop, 2, "Cats")));
    async function* source() {
      yield Buffer.from(text);
      await isAdded;
    }
    expect(await importText(source(), { isStrict: true, onProgress })).toMatchObject({ added: 3, faults: [] });
  });

  test("looks for unknown categories in one step of each part", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => index + 10);
    await storage.write(function* () {
      for (const id of ids) yield* all(addCategory, shop, id, `Category ${id}`);
    });
    const animals = ids.map((id) => `{"name":"Rex","categoryId":${id}}\n`).join("");
    const [strict, lenient] = [await stepsOf(animals, true), await stepsOf(animals, false)];
    expect(strict).toBe(lenient + 1);
  });
});

describe("an import that keeps ids", () => {
  test("adds the animals with them, and new animals get larger ones", async () => {
    expect(await importText(animal(7) + animal(2n ** 62n) + animal(3), { ids: "keep" })).toMatchObject({ added: 3 });
    expect((await pets()).map(({ id }) => id)).toEqual([3n, 7n, 2n ** 62n]);
    expect((await addRex()).id).toBe(2n ** 62n + 1n);
  });

  test("refuses each line with an id that the shop has assigned before, or of an earlier line", async () => {
    await importText(animal(7) + animal(2), { ids: "keep" });
    const text = animal(8) + animal(7) + animal(3) + animal(8) + animal(9);
    expect(await importText(text, { ids: "keep" })).toEqual({
      added: 0,
      before: 0,
      faults: [
        { line: 2, message: givenBefore(7, 7) },
        { line: 3, message: givenBefore(3, 7) },
        { line: 4, message: "/id 8 is on an earlier line too" },
      ],
      total: 3,
    });
    const many = Array.from({ length: 300 }, () => animal(7)).join("");
    expect(await importText(many, { ids: "keep" })).toMatchObject({ total: 299 + 300 });
    expect(await count()).toBe(2);
  });

  test("refuses the id of a deleted animal, also of the newest one", async () => {
    await importText(animal(7) + animal(9), { ids: "keep" });
    await removePet(9n);
    expect(await importText(animal(9), { ids: "keep" })).toMatchObject({
      faults: [{ line: 1, message: givenBefore(9, 9) }],
    });
    expect(await importText(animal(7), { ids: "new" })).toMatchObject({ added: 1 });
    expect((await pets()).map(({ id }) => id)).toEqual([7n, 10n]);
  });

  test.each([
    ["given to another animal", addRex],
    ["given to an animal that was deleted", addAndRemove],
  ])("adds nothing if an id is %s before the animals are added", async (_, beforeAdding) => {
    const text = animal(2) + animal(1);
    const failure = await failureOf(importText(text, { ids: "keep", beforeAdding }));
    expect(failure?.message).toBe(
      "Another process changed the store. The id 1 of line 2 is now in use. Nothing was added.",
    );
    expect(await names()).not.toContain("Pet 2");
  });

  test("depends on the ids of its own shop only", async () => {
    await importText(animal(7) + animal(9), { ids: "keep", into: other });
    expect(await importText(animal(7) + animal(8), { ids: "keep" })).toMatchObject({ added: 2 });
    expect((await addRex()).id).toBe(9n);
  });

  test("in parts reserves its ids from the first part on", async () => {
    const text = Array.from({ length: 15_000 }, (_, index) => animal(index + 1)).join("");
    await stopAt(text, 10_000, { ids: "keep" });
    expect((await addRex()).id).toBe(15_001n);
    expect(await importText(text, { ids: "keep", inParts: true })).toMatchObject({ added: 5_000, before: 10_000 });
    expect(await importText(animal(15_001), { ids: "keep", inParts: true })).toMatchObject({
      faults: [{ line: 1, message: givenBefore(15_001, 15_001) }],
    });
  });

  test("in parts reserves them again when it is resumed", async () => {
    const text = Array.from({ length: 15_000 }, (_, index) => animal(15_000 - index)).join("");
    await stopAt(text, 10_000, { ids: "keep" });
    const goOn = () => importText(text, { ids: "keep", inParts: true });
    expect(await goOn()).toMatchObject({ added: 5_000, before: 10_000 });
    expect(await goOn()).toMatchObject({ added: 0, before: 15_000 });
    expect((await pets()).every(({ id, name }) => name === `Pet ${id}`)).toBe(true);
  });

  test("with --ids new replaces them by new ones", async () => {
    await importText(animal(7) + animal(7), { ids: "new" });
    expect((await pets()).map(({ id }) => id)).toEqual([1n, 2n]);
  });
});
