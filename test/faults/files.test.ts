// Files of the store that are missing, in the way, not ours, damaged, or taken away while the service runs.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { migrations } from "../../src/storage/migrations.ts";
import { serveCommand } from "../harness/program.ts";
import { lastAnswers, StoreUnderFault, unavailable } from "./store-under-fault.ts";

/** An account without rights of its own, which permissions stop. */
const NOBODY = 65_534;
const asNobody = ["setpriv", `--reuid=${NOBODY}`, "--clear-groups", ...serveCommand];
const isRoot = process.getuid?.() === 0;
const canBeNobody = !isRoot || Bun.spawnSync([...asNobody.slice(0, 3), process.execPath, "--version"]).success;
const unprivileged = isRoot ? asNobody : serveCommand;

/** Overwrites the first page of the animals, as a disk does that mixes up its blocks. */
function damage(file: string): void {
  const database = new Database(file);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page = 0 } = database.query<{ page: number }, []>(pageOfAnimals).get() ?? {};
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE, 0xff), 0, PAGE, (page - 1) * PAGE);
  closeSync(descriptor);
  database.run("UPDATE category_sequence SET last_id = last_id + 1"); // whoever has the page in memory reads it again
  database.close();
}

const PAGE = 4_096;
const pageOfAnimals = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'pets'";

/** Lets another release of the program write the store. */
function renew(file: string): void {
  const newer = new Database(file);
  newer.run(`PRAGMA user_version = ${migrations.length + 1}`);
  newer.close();
}

const faults: [string, (store: StoreUnderFault) => void][] = [
  ["their folder is moved", ({ dataDir }) => renameSync(dataDir, `${dataDir}.away`)],
  ["their folder is deleted", ({ dataDir }) => rmSync(dataDir, { recursive: true })],
  ["the database is deleted", ({ file }) => rmSync(file)],
  ["its log is deleted", ({ file }) => rmSync(`${file}-wal`)],
  [
    "a backup is put into their place",
    ({ file }) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
];

describe("files that go while the service runs:", () => {
  test.each(faults)("if %s, writes are refused and reads go on", async (_, happen) => {
    await using store = await StoreUnderFault.start();
    happen(store);
    expect(new Set(await store.addAll(50))).toEqual(new Set([unavailable]));
    expect(await store.read()).toBe(200);
    await store.ready("503 storage unavailable");
    expect(await store.reason()).toBe(`The files of the store at ${store.file} were moved or deleted.`);
    expect(store.logged().length).toBeLessThan(20);
  });

  test("as soon as they are back, they are written again", async () => {
    await using store = await StoreUnderFault.start();
    renameSync(store.dataDir, `${store.dataDir}.away`);
    expect(await store.add("while they were away")).toBe(unavailable);
    renameSync(`${store.dataDir}.away`, store.dataDir);
    await store.ready("200 ready");
    expect(await store.add("after the fault")).toBe(201);
    expect(await store.program.end()).toBe(0);
    expect(store.names()).toEqual(["before the fault", "after the fault"]);
  });
});

const damaged = ({ file }: StoreUnderFault) =>
  `The store at ${file} failed: database disk image is malformed. The service ended at once, because it is not ` +
  "known what is on disk. Look at the disk, and start it again.\n";
const newer = ({ file }: StoreUnderFault) =>
  `The store at ${file} was written by a newer release: ` +
  `its schema is ${migrations.length + 1}, this release knows ${migrations.length}.\n`;

describe("a store on which going on would risk data ends the service with a line that says why:", () => {
  test("one whose animals are found damaged", async () => {
    await using store = await StoreUnderFault.start();
    damage(store.file);
    for (const seen of await Promise.all([store.read(), store.add("on a damaged store")]))
      expect(lastAnswers).toContain(seen);
    expect(await store.lastWords()).toBe(damaged(store));
    await store.serve();
    expect(lastAnswers).toContain(await store.read());
    expect(await store.lastWords()).toBe(damaged(store));
  });

  test("one that a newer release writes meanwhile", async () => {
    await using store = await StoreUnderFault.start();
    renew(store.file);
    expect(lastAnswers).toContain(await store.add("too old"));
    expect(await store.lastWords()).toBe(newer(store));
    expect(store.names()).toEqual(["before the fault"]);
    await store.serve();
    expect(await store.lastWords()).toBe(newer(store));
  });
});

describe("at the start,", () => {
  const refusals: [string, (store: StoreUnderFault) => void, string][] = [
    [
      "a file that is no database",
      ({ file }) => writeFileSync(file, "Dear diary\n".repeat(500)),
      "file is not a database",
    ],
    [
      "a database whose tables are damaged",
      ({ file }) => writeFileSync(file, readFileSync(file).fill(0xff, 100, PAGE)),
      "database disk image is malformed",
    ],
    [
      "a folder in the place of the file",
      ({ file }) => (rmSync(file), mkdirSync(file)),
      "unable to open database file",
    ],
  ];
  test.each(refusals)("%s is refused with a reason", async (_, happen, reason) => {
    const store = await StoreUnderFault.prepare();
    happen(store);
    await store.serve();
    expect(await store.lastWords()).toBe(`The store at ${store.file} cannot be opened: ${reason}.\n`);
  });

  test.skipIf(!canBeNobody)("a file that may not be written is refused with a reason", async () => {
    const store = await StoreUnderFault.prepare();
    chmodSync(store.dataDir, 0o777);
    chmodSync(store.file, 0o444);
    await store.serve(unprivileged);
    expect(await store.lastWords()).toBe(
      `The store at ${store.file} cannot be opened: attempt to write a readonly database.\n`,
    );
  });

  test("a folder that is missing is made, with those above it", async () => {
    await using store = await StoreUnderFault.start((dataDir) => {
      rmSync(dataDir, { recursive: true });
      return serveCommand;
    });
    await store.ready("200 ready");
  });
});
