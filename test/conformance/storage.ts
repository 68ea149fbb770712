import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { shopNumber } from "../../src/contract/caller.ts";
import { AccountChanges, noteAccountChange } from "../../src/domains/accounts/account-changes.store.ts";
import { together } from "../../src/storage/combined-steps.ts";
import { StorageUnavailable } from "../../src/storage/errors.ts";
import { change, query, type Row } from "../../src/storage/statement.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { afterCommit, all, first, pause, type Query, type Read, waitFor } from "../../src/storage/transaction.ts";
import { raisesVersion } from "../../src/storage/versions.ts";
import type { MaybePromise } from "../../src/timing/maybe-promise.ts";
import { failureOf } from "../harness/failure-of.ts";
import { eventually } from "../harness/program.ts";
import { appendConformance, appendTo } from "./appends.ts";
import { streamConformance } from "./streams.ts";

/** An engine, as the suite needs it. */
export interface StorageEngine {
  /** A place where there is no store yet. */
  newLocation(): MaybePromise<string>;
  /** Opens the store at a place, also while it is open already, and brings its schema up to date. */
  open(location: string): MaybePromise<OpenStorage>;
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

// Only SQL that every engine understands, on tables that the migrations make.
const columns = "id, name, category_id, status";
const addPet = change<[id: number, name: string, categoryId: number | bigint, status: string | null], PetRow>(
  `INSERT INTO pets (shop, id, name, category_id, status, added_at) VALUES (1, $1, $2, $3, $4, 0) RETURNING ${columns}`,
);
const allPets = query<[], PetRow>(`SELECT ${columns} FROM pets ORDER BY id`);
const petById = query<[id: number | bigint], PetRow>(`SELECT ${columns} FROM pets WHERE shop = 1 AND id = $1`);
const petsFrom = query<[categoryId: number | bigint, limit: number], PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = 1 AND category_id >= $1 ORDER BY id LIMIT $2`,
);
const countPets = query<[], CountRow>("SELECT count(*) AS figure FROM pets");
const addShop = change("INSERT INTO shops (shop, account_id, mode) VALUES (1, 'acc_shop', 'test')");
const addCounter = change<[id: string]>(
  "INSERT INTO accounts (id, name, plan, per_minute, created_at) VALUES ($1, 'Counter', 'enterprise', 1, 0)",
);
const readCounter = query<[id: string], CountRow>("SELECT per_minute AS figure FROM accounts WHERE id = $1");
const setCounter = change<[perMinute: bigint, id: string]>("UPDATE accounts SET per_minute = $1 WHERE id = $2");
let lastId = 0;
/** Parameters of `addPet`: each animal has a different id. */
const petRow = (name: string, categoryId: number | bigint, status: string | null) =>
  [++lastId, name, categoryId, status] as const;
const addRex = () => first(addPet, ...petRow("Rex", 1, null));
const addAll = (rows: readonly ReturnType<typeof petRow>[]) => together(rows.map((row) => all(addPet, ...row)));
const nonsense = query("SELECT nothing FROM nowhere");

const add = (storage: OpenStorage, name: string) => storage.write(() => first(addPet, ...petRow(name, 1, null)));
const names = async (storage: OpenStorage) => (await storage.read(all(allPets))).map(({ name }) => name);

const addEach = (storage: OpenStorage, pets: readonly string[]) =>
  storage.write(function* () {
    for (const name of pets) yield* all(addPet, ...petRow(name, 1, null));
    return pets.length;
  });

/** Counts the animals, waits, and counts them again. */
function* countTwice(wait: () => Promise<number>) {
  const before = (yield* first(countPets))?.figure;
  const waited = yield* waitFor(wait());
  return [before, waited, (yield* first(countPets))?.figure];
}

/** Pauses until there are animals, and tells each pause. */
function* pauseUntilAdded(pauses: () => void): Read<void> {
  while ((yield* first(countPets))?.figure === 0n) {
    pauses();
    yield* pause();
  }
}

/** Declares what every engine must pass. */
export function storageConformance(engineName: string, engine: StorageEngine): void {
  describe(`${engineName} keeps the promises of the interface OpenStorage:`, () => {
    let location: string;
    let storage: OpenStorage;
    let opened: OpenStorage[];

    const open = async () => {
      const store = await engine.open(location);
      opened.push(store);
      return store;
    };
    beforeEach(async () => {
      opened = [];
      location = await engine.newLocation();
      storage = await open();
    });
    afterEach(async () => {
      for (const store of opened) await store.close();
    });

    describe("a read returns", () => {
      test("all rows, in the order asked for", async () => {
        for (const pet of ["Rex", "Tom", "Kim"]) await add(storage, pet);
        expect(await names(storage)).toEqual(["Rex", "Tom", "Kim"]);
        expect(await storage.read(all(petsFrom, 0, 2))).toHaveLength(2);
      });

      test("the first row, with the columns' own values", async () => {
        const id = (await storage.write(() => first(addPet, ...petRow("Rex", 7, "sold"))))?.id as bigint;
        expect(await storage.read(first(petById, id))).toEqual({ id, name: "Rex", category_id: 7n, status: "sold" });
      });

      test("nothing if there is nothing", async () => {
        expect(await storage.read(all(allPets))).toEqual([]);
        expect(await storage.read(first(petById, 1))).toBeUndefined();
      });

      test("NULL as null", async () => {
        expect((await add(storage, "Rex"))?.status).toBeNull();
      });

      test.each([
        ["of other scripts", "🐕 «Ñandú» 東京"],
        ["that is empty", ""],
        ["that looks like SQL", "o'Hara\n\t\\ $1 ? :name --"],
        ["of 100 KB", "x".repeat(100_000)],
      ])("a text %s unchanged", async (_, text) => {
        await add(storage, text);
        expect(await names(storage)).toEqual([text]);
      });

      test("StorageUnavailable if it fails", async () => {
        expect(await failureOf(() => storage.read(all(nonsense)))).toBeInstanceOf(StorageUnavailable);
        expect(await failureOf(() => storage.read(first(nonsense)))).toBeInstanceOf(StorageUnavailable);
      });
    });

    describe("the integer", () => {
      test.each([-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n])(
        "%p is exact",
        async (figure) => {
          const added = await storage.write(() => first(addPet, ...petRow("Rex", figure, null)));
          expect(added?.category_id).toBe(figure);
          expect((await storage.read(first(petById, added?.id ?? 0n)))?.category_id).toBe(figure);
          expect(await storage.read(all(petsFrom, figure, 1))).toHaveLength(1);
        },
      );

      test("of a number is stored unchanged", async () => {
        const moment = Date.UTC(2026, 10, 21);
        expect((await storage.write(() => first(addPet, ...petRow("Rex", moment, null))))?.category_id).toBe(
          BigInt(moment),
        );
      });

      test.each([2n ** 63n, -(2n ** 63n) - 1n])("%p does not fit: it is refused, not rounded", async (figure) => {
        const failure = await failureOf(() => storage.write(() => first(addPet, ...petRow("Rex", figure, null))));
        expect(failure).toBeInstanceOf(Error);
        expect((await storage.read(first(countPets)))?.figure).toBe(0n);
      });
    });

    describe("a read", () => {
      test("may wait for something else, and then sees what was written in the meantime", async () => {
        const adding = async () => {
          await Promise.resolve(); // as for another caller: a read begins no change
          await add(storage, "Rex");
          return 5;
        };
        expect(await storage.read(countTwice(adding))).toEqual([0n, 5, 1n]);
      });

      test("may pause, so that others go on, and then sees what they wrote", async () => {
        const paused = Promise.withResolvers<void>();
        const done = storage.read(pauseUntilAdded(paused.resolve));
        await paused.promise;
        await add(storage, "Rex");
        await done;
      });

      test("fails with the error of what it waits for, or its own", async () => {
        const reason = new Error("Away.");
        const mistaken = function* (): Query<never> {
          yield* all(countPets);
          throw reason;
        };
        expect(await failureOf(() => storage.read(countTwice(() => Promise.reject(reason))))).toBe(reason);
        expect(await failureOf(() => storage.read(mistaken()))).toBe(reason);
      });

      test("runs queries together", async () => {
        await storage.write(() => addAll([petRow("Rex", 1, null), petRow("Tom", 1, null)]));
        const found = await storage.read(
          together<unknown, "query">([all(countPets), together([all(countPets), all(countPets)])]),
        );
        expect(found).toEqual([[{ figure: 2n }], [[{ figure: 2n }], [{ figure: 2n }]]]);
      });

      test("cannot change the store or note an action, even past the compiler; and a change cannot wait or pause", async () => {
        const asQuery = query("DELETE FROM pets");
        const changes = [all(addPet, ...petRow("Rex", 1, null)), addRex(), afterCommit(() => {})];
        const reads = [all(asQuery), first(asQuery), ...(changes as never[])];
        for (const read of reads) expect(await failureOf(() => storage.read<unknown>(read))).toBeInstanceOf(Error);
        for (const mistake of [() => waitFor(Promise.resolve()), pause])
          expect(String(await failureOf(() => storage.write(() => mistake() as never)))).toContain(
            "A change paused or waited",
          );
        function* waitingForChange() {
          return yield* waitFor(storage.write(addRex));
        }
        expect(String(await failureOf(() => storage.read(waitingForChange())))).toContain(
          "A read cannot change the store",
        );
        expect(await names(storage)).toEqual([]);
      });
    });

    describe("a transaction", () => {
      test("returns the value of its body", async () => {
        const value = await storage.write(function* () {
          yield* all(addPet, ...petRow("Rex", 1, null));
          return { counted: (yield* first(countPets))?.figure, rows: (yield* all(allPets)).length };
        });
        expect(value).toEqual({ counted: 1n, rows: 1 });
      });

      test("of one step fails alone if others came at the same moment", async () => {
        const write = (status: string | null) => storage.write(() => first(addPet, ...petRow("Rex", 1, status)));
        const failures = await Promise.all(
          [null, "flying", "sold", "flying"].map((status) => failureOf(() => write(status))),
        );
        const unavailable = expect.any(StorageUnavailable);
        expect(failures).toEqual([undefined, unavailable, undefined, unavailable]);
        const kept = new Set((await storage.read(all(allPets))).map(({ status }) => status));
        expect(kept).toEqual(new Set([null, "sold"])); // commits that do not wait for each other have no order
      });

      test.each([true, false])(
        "leaves nothing if code after its last step throws (the only step: %p)",
        async (isOnly) => {
          const reason = new Error("I changed my mind");
          const write = () =>
            storage.write(function* () {
              if (!isOnly) yield* all(addPet, ...petRow("Tom", 1, null));
              yield* addRex();
              throw reason;
            });
          expect([await failureOf(write), await names(storage)]).toEqual([reason, []]);
        },
      );

      test("runs statements together", async () => {
        await storage.write(() => addAll([petRow("Rex", 1, null), petRow("Tom", 2, null), petRow("Kim", 3, null)]));
        expect(await names(storage)).toEqual(["Rex", "Tom", "Kim"]);
        await storage.write(() => addAll([]));
        const failure = await failureOf(() =>
          storage.write(() => addAll([petRow("Ada", 1, null), petRow("Ida", 1, "flying")])),
        );
        expect(failure).toBeInstanceOf(StorageUnavailable);
        expect(await names(storage)).toHaveLength(3);
      });

      test("runs parts side by side, each with the rows of its own statements", async () => {
        const pets = ["Rex", "Tom", "Kim"].map((name) => petRow(name, 1, null));
        await storage.write(() => addAll(pets));
        const found: string[] = [];
        const read = function* ([id, name]: (typeof pets)[number]): Query<void> {
          for (let times = 0; times < 2; times++) found.push(`${name}: ${(yield* first(petById, id))?.name}`);
        };
        await storage.write(() =>
          together<unknown, "query">([together(pets.slice(0, 2).map(read)), ...pets.slice(2).map(read)]),
        );
        expect(new Set(found)).toEqual(new Set(["Rex: Rex", "Tom: Tom", "Kim: Kim"]));
      });

      test("may have no step", async () => {
        expect(await addEach(storage, [])).toBe(0);
      });

      test("whose body throws leaves nothing, and rejects with what it threw", async () => {
        const reason = new Error("I changed my mind");
        const write = () =>
          storage.write(function* () {
            yield* all(addPet, ...petRow("Rex", 1, null));
            throw reason;
          });
        expect(await failureOf(write)).toBe(reason);
        expect(await names(storage)).toEqual([]);
      });

      test("that breaks a constraint leaves nothing, and is StorageUnavailable", async () => {
        const write = () =>
          storage.write(function* () {
            yield* all(addPet, ...petRow("Rex", 1, null));
            yield* all(addPet, ...petRow("Tom", 1, "flying"));
          });
        expect(await failureOf(write)).toBeInstanceOf(StorageUnavailable);
        expect(await names(storage)).toEqual([]);
      });

      test("fails alone: others that came at the same moment are committed", async () => {
        const reason = new Error("not this one");
        const write = (index: number) =>
          storage.write(function* () {
            yield* all(addPet, ...petRow(`Pet ${index}`, 1, null));
            if (index % 3 === 1) throw reason;
            if (index % 3 === 2) yield* all(nonsense);
            return index;
          });
        const failures = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((index) => failureOf(() => write(index))));
        const unavailable = expect.any(StorageUnavailable);
        expect(failures).toEqual([undefined, reason, unavailable, undefined, reason, unavailable, undefined]);
        expect((await names(storage)).toSorted()).toEqual(["Pet 0", "Pet 3", "Pet 6"]);
      });

      describe("runs its afterCommit actions", () => {
        /** What was done, in order. */
        let done: string[];
        beforeEach(() => {
          done = [];
        });
        const note = (what: string) => afterCommit(() => void done.push(what));
        /** Adds a pet, with a note before and one after it. */
        const addNoted = (name: string, status: string | null = null) =>
          storage.write(function* () {
            yield* note(`before ${name}`);
            yield* all(addPet, ...petRow(name, 1, status));
            yield* note(`after ${name}`);
          });

        test("in order, and before it resolves", async () => {
          await addNoted("Rex").then(() => done.push("resolved"));
          expect(done).toEqual(["before Rex", "after Rex", "resolved"]);
        });

        test("when another connection can read its changes", async () => {
          const other = await open();
          const seen = Promise.withResolvers<readonly string[]>();
          await storage.write(function* () {
            yield* all(addPet, ...petRow("Rex", 1, null));
            yield* afterCommit(() => void names(other).then(seen.resolve, seen.reject));
          });
          expect(await seen.promise).toEqual(["Rex"]);
        });

        test("also if it is part of another, and if it has no statement", async () => {
          const noted = (part: typeof addRex) =>
            function* () {
              yield* note("Rex");
              return yield* part();
            };
          await storage.write(noted(addRex));
          await Promise.all([storage.write(noted(addRex)), storage.write(noted(addRex))]);
          expect(done).toEqual(["Rex", "Rex", "Rex"]);
          await storage.write(function* () {
            yield* noted(addRex)();
            yield* all(addPet, ...petRow("Tom", 1, null));
          });
          await storage.write(() => note("nothing"));
          expect(done).toEqual(["Rex", "Rex", "Rex", "Rex", "nothing"]);
        });

        test("never if it is rolled back, and once each for those that came at the same moment", async () => {
          const reason = new Error("I changed my mind");
          const changeMind = () =>
            storage.write(function* () {
              yield* note("a change of mind");
              yield* all(addPet, ...petRow("Ida", 1, null));
              throw reason;
            });
          const work = [() => addNoted("Rex"), () => addNoted("Ada", "flying"), changeMind, () => addNoted("Tom")];
          const failures = await Promise.all(work.map(failureOf));
          expect(failures).toEqual([undefined, expect.any(StorageUnavailable), reason, undefined]);
          expect(done.toSorted()).toEqual(["after Rex", "after Tom", "before Rex", "before Tom"]);
        });

        test("once, even if it must run again because of a conflict", async () => {
          await storage.write(() => all(addCounter, "acc_counter"));
          let runs = 0;
          let counted = 0;
          const increment = function* () {
            runs++;
            const row = yield* first(readCounter, "acc_counter");
            yield* afterCommit(() => void counted++);
            yield* all(setCounter, (row?.figure ?? 0n) + 1n, "acc_counter");
          };
          const stores = [storage, await open()];
          await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => store.write(increment))));
          expect([(await storage.read(first(readCounter, "acc_counter")))?.figure, counted]).toEqual([41n, 40]);
          expect(runs).toBeGreaterThanOrEqual(counted);
        });
      });

      test("is committed exactly once, also with many at the same moment", async () => {
        const wanted = Array.from({ length: 600 }, (_, index) => `Pet ${index}`);
        await Promise.all(wanted.map((pet) => add(storage, pet)));
        expect((await names(storage)).toSorted()).toEqual(wanted.toSorted());
      });

      test("can be read as soon as it has resolved, also on another connection", async () => {
        const reader = await open();
        for (const pet of ["Rex", "Tom", "Kim"]) {
          await add(storage, pet);
          expect((await names(storage)).at(-1)).toBe(pet);
          expect((await names(reader)).at(-1)).toBe(pet);
        }
      });

      test("sees the changes of earlier ones, also from another connection", async () => {
        await storage.write(() => all(addCounter, "acc_counter"));
        const increment = function* () {
          const row = yield* first(readCounter, "acc_counter");
          yield* all(setCounter, (row?.figure ?? 0n) + 1n, "acc_counter");
        };
        const stores = [storage, await open()];
        await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => store.write(increment))));
        expect((await storage.read(first(readCounter, "acc_counter")))?.figure).toBe(41n);
      });
    });

    appendConformance({ storage: () => storage, open });
    streamConformance({ storage: () => storage, open });

    test("a change of an account by another connection is noticed, and of which", async () => {
      const other = await open();
      const noticed: (string | undefined)[] = [];
      storage.follow(new AccountChanges((accountId) => void noticed.push(accountId)));
      for (const id of ["acc_same", "acc_changed"]) await other.write(() => all(addCounter, id));
      await eventually(async () => {
        await other.write(() => noteAccountChange("acc_changed", () => {}));
        return noticed.includes("acc_changed");
      });
      expect(noticed).not.toContain("acc_same");
    });

    test("what is called after a change of an account is called with it once, and not after a rollback", async () => {
      const called: (string | undefined)[] = [];
      const note = () => noteAccountChange("acc_counter", (accountId) => void called.push(accountId));
      await storage.write(note);
      const failing = storage.write(function* () {
        yield* note();
        yield* all(nonsense);
      });
      await failureOf(failing);
      expect(called).toEqual(["acc_counter"]);
    });

    test("the version of a shop is raised by statements that say so, and by any write of another connection", async () => {
      if (storage.versionOf(shopNumber(1)) === undefined) return; // the engine does not learn of every write
      const other = await open();
      const versions = () => [storage.versionOf(shopNumber(1)), storage.versionOf(shopNumber(2))];
      const raisedBy = async (write: Promise<unknown>) => {
        const before = versions();
        await write;
        return versions().map((version, index) => version !== before[index]);
      };
      const raise = raisesVersion<[shop: number, at: number]>("UPDATE shops SET last_at = $2 WHERE shop = $1");
      expect(await raisedBy(add(storage, "Rex"))).toEqual([false, false]);
      expect(await raisedBy(storage.write(() => all(raise, 1, 2)))).toEqual([true, false]);
      expect(await raisedBy(storage.write(() => together([all(raise, 2, 7), all(raise, 1, 7)])))).toEqual([true, true]);
      await storage.write(() => all(addShop));
      expect(await raisedBy(appendTo(storage, "Kim"))).toEqual([false, false]);
      expect(await raisedBy(add(other, "Tom"))).toEqual([true, true]);
    });

    test("onCommit is called once the commit is readable", async () => {
      const told: Promise<string[]>[] = [];
      storage.onCommit(() => told.push(Promise.resolve(names(storage))));
      await add(storage, "Rex");
      await add(storage, "Kim");
      const [early = [], late] = await Promise.all(told);
      expect([told.length, early.includes("Rex"), late]).toEqual([2, true, ["Rex", "Kim"]]);
    });

    test("settled() resolves once visible writes are on disk", async () => {
      const added = add(storage, "Rex");
      while ((await names(storage)).length === 0) await new Promise(setImmediate);
      await storage.settled();
      await added;
      await storage.settled();
    });

    test("one process becomes leader, and stays leader", async () => {
      expect(await storage.lead()).toBe(true);
      expect(await storage.lead()).toBe(true);
      await storage.close();
      const next = await open();
      await eventually(() => next.lead());
    });

    test("a probe of a store that works resolves, and writes no row", async () => {
      await storage.check();
      expect(await names(storage)).toEqual([]);
    });

    describe("closing", () => {
      test("commits what still waits", async () => {
        const writes = ["Rex", "Tom", "Kim"].map((pet) => add(storage, pet));
        await storage.close();
        await Promise.all(writes);
        expect((await names(await open())).toSorted()).toEqual(["Kim", "Rex", "Tom"]);
      });

      test("rejects later work with StorageUnavailable", async () => {
        await add(storage, "Rex");
        await names(storage); // a statement that was used before fails no differently
        await storage.close();
        expect(await failureOf(() => add(storage, "Tom"))).toBeInstanceOf(StorageUnavailable);
        expect(await failureOf(() => storage.check())).toBeInstanceOf(StorageUnavailable);
        expect(await failureOf(() => storage.read(all(allPets)))).toBeInstanceOf(StorageUnavailable);
        expect(await failureOf(() => storage.read(first(countPets)))).toBeInstanceOf(StorageUnavailable);
        expect(await names(await open())).toEqual(["Rex"]);
      });
    });
  });
}
