// `petstore import` on each engine: what it adds and refuses, what its events tell, and where it continues after it stopped.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { logViolations } from "../../../../test/conformance/replay.ts";
import { contextOf, runInProcess, runJsonInProcess } from "../../../../test/harness/commands.ts";
import { newKeyIn } from "../../../../test/harness/keys.ts";
import { readExactly } from "../../../../test/harness/ledger.ts";
import { Listener } from "../../../../test/harness/listener.ts";
import { eventually, newDataDir, Program, programCommand } from "../../../../test/harness/program.ts";
import { newTestStore, type TestStore } from "../../../../test/harness/test-store.ts";
import { unchecked } from "../../../../test/harness/unchecked-pets.ts";
import { storeAccess } from "../../../app/store/store-access.ts";
import { run } from "../../../cli/run.ts";
import { shopNumber } from "../../../contract/caller.ts";
import { CommitUnknown, StorageUnavailable } from "../../../storage/errors.ts";
import type { OpenStorage } from "../../../storage/storage.ts";
import { categoryExists } from "../../categories/categories.store.ts";
import { operator } from "../../events/publish.ts";
import { PetStore } from "../pets.store.ts";
import { addPets } from "../several/pet-imports.store.ts";
import type { ImportedPet } from "../several/pet-imports.ts";

let folder: string;
let place: TestStore;
let shop: number;
let account: string;
let key: string;
let files = 0;

async function newShop() {
  const made = await newKeyIn(folder, { quota: { perMinute: 1_000_000, perDay: 1_000_000 }, settings: place.settings });
  const sql = `SELECT shop FROM shops WHERE account_id = '${made.accountId}' AND mode = 'test'`;
  const [row] = (await place.rows(sql)) as [{ shop: bigint }];
  return { ...made, number: Number(row.shop) };
}

beforeEach(async () => {
  folder = newDataDir();
  place = await newTestStore();
  ({ number: shop, accountId: account, key } = await newShop());
  await place.run("UPDATE shops SET animals_allowed = NULL");
});
afterEach(async () => {
  expect(await logViolations(shop, (sql) => place.rows(sql), readExactly)).toEqual([]);
  expect(await wrongCounts()).toEqual([]);
  await place.remove();
});

const line = (name: string, more: object = {}) => `${JSON.stringify({ name, categoryId: 1, ...more })}\n`;
const lines = (from: number, to: number, more: (number: number) => object = () => ({})) =>
  Array.from({ length: to - from + 1 }, (_, index) => line(`Pet ${from + index}`, more(from + index))).join("");
const animal = (id: bigint | number) => `{"id":${id},"name":"Pet ${id}","categoryId":1}\n`;
const newFile = (text: string, format = "jsonl") => {
  const file = join(folder, `animals-${++files}.${format}`);
  writeFileSync(file, text);
  return file;
};
const importFile = (file: string, words: readonly string[] = []) =>
  runInProcess(folder, ["import", file, ...words], place.settings);
const importText = (text: string, words?: readonly string[]) => importFile(newFile(text), words);
const importJson = (file: string, words: readonly string[] = []) =>
  runJsonInProcess(folder, ["import", file, ...words], place.settings);

const animals = () =>
  place.rows(`SELECT CAST(id AS TEXT) AS id, name FROM pets WHERE shop = ${shop} ORDER BY pets.id`) as Promise<
    { id: string; name: string }[]
  >;
const count = async () =>
  Number(((await place.rows("SELECT count(*) AS found FROM pets")) as [{ found: bigint }])[0].found);
const ids = async () => (await animals()).map(({ id }) => BigInt(id));
/** Fails unless there is each of the animals `Pet 1` to `Pet N` once, in this order, and no other. */
const expectAnimals = async (number: number) =>
  expect((await animals()).map(({ name }) => name)).toEqual(
    Array.from({ length: number }, (_, index) => `Pet ${index + 1}`),
  );
const wrongCounts = () =>
  place.rows(
    `SELECT category_id FROM category_animals WHERE animals <> (SELECT count(*) FROM pets
     WHERE pets.shop = category_animals.shop AND pets.category_id = category_animals.category_id)`,
  );

/** Works on the store as it is opened by a command in this process. */
async function withStorage<T>(work: (storage: OpenStorage) => Promise<T>): Promise<T> {
  const storage = await place.open();
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
const addAnimal = (name: string) =>
  withStorage((storage) =>
    storage.write(() => new PetStore(storage, unchecked).add(operator(shopNumber(shop)), { name, categoryId: 1n })),
  );
const deleteAnimal = (id: bigint) =>
  withStorage((storage) =>
    storage.write(() => new PetStore(storage, unchecked).delete(operator(shopNumber(shop)), id, () => true)),
  );

const addCategory = (id: number) =>
  place.run(`INSERT INTO categories (shop, id, name, name_key) VALUES (${shop}, ${id}, 'C${id}', 'c${id}')`);

/** Imports a file whose parts are added by `write`, which gets their numbers, from 1 on. */
async function importBy(
  file: string,
  write: (part: number, commit: () => Promise<unknown>) => Promise<unknown>,
  words: readonly string[] = [],
  stop?: AbortController,
) {
  const { context, output } = contextOf(folder, { PETSTORE_DATA_DIR: folder, ...place.settings }, stop);
  let part = 0;
  const status = await run(["import", file, ...words], context, {
    access: (config) => {
      const access = storeAccess(config);
      const open: typeof access.open = async (observer) => {
        const storage = await access.open(observer);
        const commit = storage.write.bind(storage);
        return Object.assign(storage, {
          write: (body: Parameters<typeof commit>[0]) => write(++part, () => commit(body)),
        });
      };
      return { ...access, open };
    },
  });
  return { status, ...output };
}

/** What standard input brings, which is read once. */
async function importPiped(pieces: Iterable<string> | AsyncIterable<string>, words: readonly string[] = []) {
  const { context, output } = contextOf(folder, { PETSTORE_DATA_DIR: folder, ...place.settings });
  const input = async function* () {
    for await (const piece of pieces) yield Buffer.from(piece);
  };
  const status = await run(["import", "-", "--format", "jsonl", ...words], { ...context, input });
  return { status, ...output };
}

/** The line after that of the newest animal, as `petstore events` shows it. */
async function lineAfterNewest(): Promise<number> {
  const words = ["events", "--type", "pet.created", "--last", "1"];
  const [newest] = (await runJsonInProcess(folder, words, place.settings)) as { data: { name: string } }[];
  return newest === undefined ? 1 : Number(newest.data.name.slice("Pet ".length)) + 1;
}

/** Starts an import from a line on, whose input goes on after `last`: it cannot end before it is stopped. */
async function startEndless(from: number, last: number) {
  const words = ["import", "-", "--format", "jsonl", "--from-line", String(from)];
  const child = Bun.spawn([...programCommand, ...words], {
    env: { ...process.env, PETSTORE_DATA_DIR: folder, ...place.settings },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  void child.stdin.write(lines(1, last));
  await child.stdin.flush();
  return child;
}

/** The line at which an import continues that was stopped. Fails if it does not say which lines are in. */
async function continuation(child: Awaited<ReturnType<typeof startEndless>>, from: number) {
  expect(await child.exited).toBe(1);
  const found = await count();
  const animalsIn = (found + 1 - from).toLocaleString("en");
  expect(await new Response(child.stderr).text()).toBe(
    `It was stopped. Lines ${from} to ${found} are in (${animalsIn} animals). Continue with --from-line ${found + 1}.\n`,
  );
  return found + 1;
}

describe("an import", () => {
  test("adds all animals in the order of the file, with an event each", async () => {
    await addAnimal("Rex");
    const file = newFile(
      lines(1, 1_234, (number) => ({ status: ["available", "pending", "sold", undefined][number % 4] })),
    );
    expect(await importJson(file)).toEqual({
      file,
      added: 1_234,
      updated: 0,
      skipped: 0,
      nextLine: 1_235,
      seconds: expect.any(Number),
    });
    expect(await ids()).toEqual(Array.from({ length: 1_235 }, (_, index) => BigInt(index + 1)));
    expect((await animals())[1_234]?.name).toBe("Pet 1234");
    expect(await place.rows(`SELECT DISTINCT type, actor FROM events WHERE shop = ${shop} AND under > 1`)).toEqual([
      { type: "pet.created", actor: "operator" },
    ]);
    await addAnimal("Tom");
    expect((await ids()).at(-1)).toBe(1_236n);
  });

  test.each([undefined, "keep", "new"] as const)("stores the metadata of animals, with --ids %p", async (rule) => {
    const more: object[] = [{ metadata: { constructor: "a" } }, {}, { metadata: {} }, { metadata: { b: "c" } }];
    const text = more
      .map((fields, index) => line(`Pet ${index}`, { ...(rule && { id: 5 + 2 * index }), ...fields }))
      .join("");
    expect((await importText(text, rule ? ["--ids", rule] : [])).stderr).toBe("");
    const { stdout } = await runInProcess(folder, ["export", "-", "--format", "jsonl"], place.settings);
    const exported = stdout
      .trim()
      .split("\n")
      .map((pet) => JSON.parse(pet) as { metadata?: object });
    expect(exported.map(({ metadata }) => metadata)).toEqual([{ constructor: "a" }, undefined, undefined, { b: "c" }]);
  });

  test("finds a category by its name in other letters", async () => {
    await addCategory(3);
    expect(await importJson(newFile("name,category\nPet 1,c3\nPet 2, C3\n", "csv"))).toMatchObject({ added: 2 });
    expect(await place.rows("SELECT DISTINCT CAST(category_id AS TEXT) AS id FROM pets")).toEqual([{ id: "3" }]);
  });

  test("without animals adds nothing", async () => {
    expect(await importJson(newFile(""))).toMatchObject({ added: 0, nextLine: 1 });
    expect((await importPiped([])).stdout).toStartWith("Added 0 animals of standard input");
  });

  test("does not reuse the ids of deleted animals", async () => {
    await addAnimal("Rex");
    await deleteAnimal(1n);
    await importText(lines(1, 2));
    expect(await ids()).toEqual([2n, 3n]);
  });

  test("of a file with bad lines adds nothing and names them all", async () => {
    const { status, stderr } = await importText(`${lines(1, 1_200)}{"name":"Tom"}\n${lines(1, 10)}nonsense\n`);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^line 1201: \/categoryId is required\nline 1212: is not valid JSON\n\S+ has 2 faults\. Nothing was added\.\n$/,
      ),
    ]);
    expect(await count()).toBe(0);
  });

  test("of a pipe adds what stands before the part with a bad line, and continues after its correction", async () => {
    const { status, stderr } = await importPiped([
      lines(1, 1_300),
      lines(1_301, 1_400),
      `nonsense\n${lines(1_402, 1_500)}x\n`,
    ]);
    expect([status, stderr]).toEqual([
      1,
      "line 1401: is not valid JSON\nline 1501: is not valid JSON\n" +
        "standard input has 2 faults. Lines 1 to 1000 are in (1,000 animals). Continue with --from-line 1001.\n",
    ]);
    await expectAnimals(1_000);
    expect((await importPiped([lines(1, 1_501)], ["--from-line", "1001"])).stdout).toStartWith("Added 501 animals of ");
    await expectAnimals(1_501);
  });

  test("continues a CSV file at a line, with its header", async () => {
    const file = newFile(`name,categoryId\r\n"Not\r\nthis",1\r\n\r\nnor this\r\nPet 1,1\r\nPet 2,1\r\n`, "csv");
    expect(await importJson(file, ["--from-line", "6"])).toMatchObject({ added: 2, nextLine: 8 });
    await expectAnimals(2);
    expect((await importFile(newFile("Name,categoryId\r\n", "csv"), ["--from-line", "6"])).stderr).toStartWith(
      'line 1: has the unknown column "Name"',
    );
  });

  test.each(["0", "-1", "1.5", "x", ""])("refuses the line %j", async (text) => {
    const { status, stderr } = await importText(lines(1, 1), [`--from-line=${text}`]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("--from-line must be the number of a line")]);
  });
});

describe("an import that keeps ids", () => {
  const keep = ["--ids", "keep"];

  test("adds the animals with them, and new animals get larger ones", async () => {
    expect(await importJson(newFile(animal(3) + animal(7) + animal(2n ** 62n)), keep)).toMatchObject({ added: 3 });
    expect(await ids()).toEqual([3n, 7n, 2n ** 62n]);
    await addAnimal("Rex");
    expect((await ids()).at(-1)).toBe(2n ** 62n + 1n);
  });

  test("refuses ids that do not ascend in the file", async () => {
    const { stderr } = await importText(animal(8) + animal(8) + animal(3) + animal(9), keep);
    expect(stderr).toMatch(
      /^line 2: \/id 8 is not above 8, the id of an earlier line\nline 3: \/id 3 is not above 8, .*\n.* has 2 faults\. Nothing was added\.\n$/,
    );
  });

  test("refuses ids that the shop has assigned, also that of the newest animal after its deletion", async () => {
    await importText(animal(7) + animal(9), keep);
    await deleteAnimal(9n);
    const refused = "is not above 9, the last id that the shop has assigned";
    expect((await importText(animal(8) + animal(9) + animal(10), keep)).stderr).toMatch(
      new RegExp(`^line 1: /id 8 ${refused}\nline 2: /id 9 ${refused}\n.* has 2 faults\\. Nothing was added\\.\n$`),
    );
    expect(await importJson(newFile(animal(7)), ["--ids", "new"])).toMatchObject({ added: 1 });
    expect(await ids()).toEqual([7n, 10n]);
  });

  test("depends on the ids of its own shop only", async () => {
    const other = await newShop();
    await importText(animal(7) + animal(9), [...keep, "--account", other.accountId]);
    expect(await importJson(newFile(animal(7)), [...keep, "--account", account])).toMatchObject({ added: 1 });
    expect(await ids()).toEqual([7n]);
  });

  test("stops before the part whose id a client has got in the meantime", async () => {
    const file = newFile(Array.from({ length: 1_100 }, (_, index) => animal(index + 1)).join(""));
    const { status, stderr } = await importBy(
      file,
      async (part, commit) => {
        if (part === 2) await addAnimal("Rex");
        return commit();
      },
      keep,
    );
    expect([status, stderr]).toEqual([
      1,
      `line 501: /id 501 is not above 501, the last id that the shop has assigned\n${file} has 1 fault. ` +
        "Lines 1 to 500 are in (500 animals). Continue with --from-line 501.\n",
    ]);
    expect(await count()).toBe(501);
  });
});

describe("an import with strict categories", () => {
  const strict = ["--strict-categories"];
  test("stops before the part with an unknown category, and continues when it exists", async () => {
    await addCategory(1);
    const file = newFile(lines(1, 1_100, (number) => ({ categoryId: number > 1_050 ? 2 : 1 })));
    const { stderr } = await importFile(file, strict);
    expect(stderr).toStartWith("line 1051: /categoryId is not the id of a category\nline 1052: ");
    expect(stderr).toEndWith("50 faults. Lines 1 to 1000 are in (1,000 animals). Continue with --from-line 1001.\n");
    await addCategory(2);
    expect(await importJson(file, [...strict, "--from-line", "1001"])).toMatchObject({ added: 100, nextLine: 1_101 });
    await expectAnimals(1_100);
    expect((await importText(line("Tom", { categoryId: 3 }))).status).toBe(0);
    await deleteAnimal(1_101n);
  });

  test("looks for all categories of a part in one step", async () => {
    const few = Array.from({ length: 30 }, (_, index): ImportedPet => ({ name: "Rex", categoryId: BigInt(index) }));
    const stepsOf = (pets: PetStore, storage: OpenStorage) =>
      storage.write(function* () {
        let steps = 0;
        const running = addPets(pets.checks, operator(shopNumber(shop)), few);
        let next = running.next([]);
        for (; !next.done; next = running.next(yield next.value)) steps++;
        return steps;
      });
    await Promise.all(few.map(({ categoryId }) => addCategory(Number(categoryId))));
    await withStorage(async (storage) => {
      const lenient = await stepsOf(new PetStore(storage, unchecked), storage);
      expect(await stepsOf(new PetStore(storage, { ...unchecked, categoryExists }), storage)).toBe(lenient + 1);
    });
  });
});

test("animals that are added together are all refused if one is, each fault with its place", async () => {
  const pets: ImportedPet[] = [
    { name: "Rex", categoryId: 1n },
    { id: 5n, name: "Tom", categoryId: 2n },
    { id: 5n, name: "Ida", categoryId: 2n },
    { name: "Bo", categoryId: 1n },
  ];
  await place.run(`INSERT INTO categories (shop, id, name, name_key) VALUES (${shop}, 1, 'C', 'C')`);
  const refused = await withStorage((storage) =>
    storage.write(() =>
      addPets(new PetStore(storage, { ...unchecked, categoryExists }).checks, operator(shopNumber(shop)), pets),
    ),
  );
  const message = "is not the id of a category";
  expect(refused).toEqual({
    imported: [],
    faults: [
      { index: 1, path: "/categoryId", message },
      { index: 2, path: "/categoryId", message },
      { index: 2, path: "/id", message: "5 is not above 5, the last id that the shop has assigned" },
    ],
  });
  expect(await count()).toBe(0);
});

test("a part of 500 animals takes a few statements", async () => {
  const part = Array.from({ length: 500 }, (): ImportedPet => ({ name: "Rex", categoryId: 1n, metadata: { a: "b" } }));
  const countOf = (one: unknown): number => {
    const { group } = one as { group?: readonly unknown[] };
    return group ? group.reduce((sum: number, each) => sum + countOf(each), 0) : 1;
  };
  const statements = await withStorage((storage) =>
    storage.write(function* () {
      let sent = 0;
      const running = addPets(new PetStore(storage, unchecked).checks, operator(shopNumber(shop)), part);
      for (let next = running.next([]); !next.done; next = running.next(yield next.value)) sent += countOf(next.value);
      return sent;
    }),
  );
  expect(statements).toBeLessThan(25);
  expect(await count()).toBe(500);
});

describe("an import that stops", () => {
  test("because it must adds the part that it has begun, and says where it continues", async () => {
    const stop = new AbortController();
    const write = (part: number, commit: () => Promise<unknown>) => {
      if (part === 2) stop.abort();
      return commit();
    };
    const { status, stderr } = await importBy(newFile(lines(1, 1_600)), write, [], stop);
    expect([status, stderr]).toEqual([
      1,
      "It was stopped. Lines 1 to 1000 are in (1,000 animals). Continue with --from-line 1001.\n",
    ]);
    await expectAnimals(1_000);
  });

  test("because the store fails says which lines are in, and continues there", async () => {
    const file = newFile(lines(1, 1_600));
    const { stderr } = await importBy(file, async (part, commit) => {
      if (part === 3) throw new StorageUnavailable("It is away.");
      return commit();
    });
    expect(stderr).toBe(
      "The store failed: It is away. Lines 1 to 1000 are in (1,000 animals). Continue with --from-line 1001.\n",
    );
    expect(await importJson(file, ["--from-line", "1001"])).toMatchObject({ added: 600 });
    await expectAnimals(1_600);
  });

  test.each([false, true])(
    "without the answer to a commit says how to find out (committed: %p)",
    async (isCommitted) => {
      const file = newFile(lines(1, 1_600));
      const { stderr } = await importBy(file, async (part, commit) => {
        if (part !== 3) return commit();
        if (isCommitted) await commit();
        throw new CommitUnknown("The answer was lost");
      });
      expect(stderr).toBe(
        "The store failed: The answer was lost. Lines 1 to 1000 are in (1,000 animals). Lines 1001 to 1500 may be in, all " +
          'or none: if `petstore events --type pet.created` shows "Pet 1500", continue with --from-line 1501, else with ' +
          "--from-line 1001.\n",
      );
      const next = await lineAfterNewest();
      expect(next).toBe(isCommitted ? 1_501 : 1_001);
      await importFile(file, ["--from-line", String(next)]);
      await expectAnimals(1_600);
    },
  );

  test("does not claim to have added anything to a sandbox that is reset during the import", async () => {
    const { stderr } = await importBy(newFile(lines(1, 1_100)), async (part, commit) => {
      if (part === 2) await place.run(`UPDATE shops SET account_id = NULL WHERE shop = ${shop}`);
      return commit();
    });
    expect(stderr).toBe("The sandbox was reset, or the account was deleted. The shop has no animal of the file.\n");
  });

  test("after Ctrl-C says where it continues, while it adds or waits for its input", async () => {
    const adding = await startEndless(1, 2_000);
    await eventually(async () => (await count()) > 0);
    adding.kill("SIGINT");
    const from = await continuation(adding, 1);
    const waiting = await startEndless(from, 3_000);
    await eventually(async () => (await count()) === 3_000);
    waiting.kill("SIGINT");
    expect(await continuation(waiting, from)).toBe(3_001);
    await importFile(newFile(lines(1, 3_100)), ["--from-line", "3001"]);
    await expectAnimals(3_100);
  });

  test("after kill -9 continues after the newest animal, beside a service whose stream shows each once", async () => {
    const program = await Program.start(folder, { ...place.settings, PETSTORE_ENV: "staging" });
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const listener = await Listener.open(`${program.base}/events/stream?type=pet.created`, key, {});
    const many = 6_000;
    for (let round = 1; round <= 3; round++) {
      const before = await count();
      const child = await startEndless(await lineAfterNewest(), 1_500 * round);
      await eventually(async () => (await count()) > before);
      child.kill("SIGKILL");
      expect(await child.exited).toBe(137);
      expect((await count()) % 500).toBe(0);
    }
    const next = await lineAfterNewest();
    const created = Promise.withResolvers<void>();
    const input = async function* () {
      yield lines(1, many - 500);
      await created.promise;
      yield lines(many - 499, many);
    };
    const rest = importPiped(input(), ["--from-line", String(next), "--json"]);
    let sent = 0;
    while ((await count()) < many + sent) {
      const body = '{"name":"Client","categoryId":1}';
      const { status } = await fetch(`${program.base}/pets`, { method: "POST", headers, body });
      expect(status).toBe(201);
      if (++sent === 6) created.resolve(); // at least six are created during the import
    }
    expect(JSON.parse((await rest).stdout)).toMatchObject({ added: many + 1 - next });
    const stored = await animals();
    expect(stored.filter(({ name }) => name !== "Client").map(({ name }) => name)).toEqual(
      Array.from({ length: many }, (_, index) => `Pet ${index + 1}`),
    );
    const { events } = await listener.until((state) => state.events.length >= stored.length);
    const shown = events.map(({ data }) => (JSON.parse(data) as { data: { name: string } }).data.name);
    expect(shown).toEqual(stored.map(({ name }) => name));
    listener.close();
    await program.end();
  });
});

test("animals whose references exist are refused, left out or changed", async () => {
  await importJson(newFile(line("Rex", { reference: "a" }) + line("Tom", { reference: "b" })));
  const file = newFile("name,categoryId,price,currency,reference\nMax,1,12.90,EUR,a\nNew,1,,,c\n", "csv");
  const refused = await importFile(file);
  expect(refused.stderr).toMatch(/^line 2: \/reference is that of the animal \d+\n/);
  expect(await importJson(file, ["--on-existing", "skip"])).toMatchObject({ added: 1, updated: 0, skipped: 1 });
  expect(await importJson(file, ["--on-existing", "update"])).toMatchObject({ added: 0, updated: 2, skipped: 0 });
  const columns = "name, CAST(amount AS TEXT) AS amount, currency, reference";
  expect(await place.rows(`SELECT ${columns} FROM pets WHERE shop = ${shop} ORDER BY id`)).toEqual([
    { name: "Max", amount: "1290", currency: "EUR", reference: "a" },
    { name: "Tom", amount: null, currency: null, reference: "b" },
    { name: "New", amount: null, currency: null, reference: "c" },
  ]);
  const wrong = await importFile(file, ["--on-existing", "replace"]);
  expect([wrong.status, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("--on-existing must be one of refuse, skip, update."),
  ]);
});

test("changes animals with more metadata than one transaction may change in several", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`k${index}`, '"'.repeat(500)]));
  const references = Array.from({ length: 100 }, (_, index) => `${index}`);
  await importJson(newFile(references.map((reference) => line("Rex", { reference, metadata })).join("")));
  const changed = newFile(references.map((reference) => line("Tom", { reference })).join(""));
  expect(await importJson(changed, ["--on-existing", "update"])).toMatchObject({ updated: 100, nextLine: 101 });
});

test("a file that does not fit into the shop is refused before anything is added", async () => {
  await place.run(`UPDATE shops SET animals_allowed = 700 WHERE shop = ${shop}`);
  const { status, stderr } = await importText(lines(1, 701));
  const message = "The shop may hold 700 animals, and the 701 animals of the file do not fit. Nothing was added.\n";
  expect([status, stderr]).toEqual([1, message]);
  expect(await count()).toBe(0);
  await importText(lines(1, 700));
  await expectAnimals(700);
});
