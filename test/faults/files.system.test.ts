// Files of the store that are missing, in the way, not ours, damaged, or taken away while the service runs.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { migrations } from "../../src/app/schema.ts";
import { newDataDir, serveCommand } from "../harness/program.ts";
import { canMount, readOnly } from "./faulty-disk.ts";
import { lastResponses, StoreUnderFault, unavailable } from "./store-under-fault.ts";

/** The id of a system user to whom file permissions apply. */
const NOBODY = 65_534;
const asNobody = ["setpriv", `--reuid=${NOBODY}`, "--clear-groups", ...serveCommand];
const isRoot = process.getuid?.() === 0;
const canBeNobody = !isRoot || Bun.spawnSync([...asNobody.slice(0, 3), process.execPath, "--version"]).success;
const unprivileged = isRoot ? asNobody : serveCommand;

/** Opens a store whose service may be writing: each statement waits for it. */
function openInUse(file: string): Database {
  const database = new Database(file);
  database.run("PRAGMA busy_timeout = 10000");
  return database;
}

/** Overwrites the first page of the animals, as a disk does that mixes up its blocks. */
function damage(file: string): void {
  const database = openInUse(file);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page = 0 } = database.query<{ page: number }, []>(pageOfAnimals).get() ?? {};
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE, 0xff), 0, PAGE, (page - 1) * PAGE);
  closeSync(descriptor);
  database.run("UPDATE shops SET last_category_id = last_category_id + 1"); // a process with the page in memory reads it again
  database.close();
}

const PAGE = 4_096;
const pageOfAnimals = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'pets'";

/** Makes the store look as if a newer release had migrated it. */
function migrateFurther(file: string): void {
  const newer = openInUse(file);
  newer.run("INSERT INTO petstore_steps (digest) VALUES ('of a later step')");
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

describe("store files removed while the service runs:", () => {
  test.each(faults)("if %s, writes fail and reads succeed", async (_, happen) => {
    await using store = await StoreUnderFault.start();
    happen(store);
    expect(new Set(await store.addAll(50))).toEqual(new Set([unavailable]));
    expect(await store.read()).toBe(200);
    await store.ready("503 storage unavailable");
    expect(await store.reason()).toBe(`The files of the store at ${store.file} were moved or deleted.`);
    expect(store.logged().length).toBeLessThan(20);
  });

  test("writes succeed as soon as the files are back", async () => {
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

describe("the service ends with a line that says why, for", () => {
  test("a store whose animals are damaged", async () => {
    await using store = await StoreUnderFault.start();
    damage(store.file);
    for (const seen of await Promise.all([store.read(), store.add("on a damaged store")]))
      expect(lastResponses).toContain(seen);
    expect(await store.lastWords()).toBe(damaged(store));
    await store.serve();
    expect(lastResponses).toContain(await store.read());
    expect(await store.lastWords()).toBe(damaged(store));
  });

  test("a store migrated by a newer release while open", async () => {
    await using store = await StoreUnderFault.start();
    migrateFurther(store.file);
    expect(lastResponses).toContain(await store.add("too old"));
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
  ];
  test.each(refusals)("the service refuses %s with a reason", async (_, happen, reason) => {
    const store = await StoreUnderFault.prepare();
    happen(store);
    await store.serve();
    expect(await store.lastWords()).toBe(`The store at ${store.file} cannot be opened: ${reason}.\n`);
  });

  test.each([
    ["is empty", ({ file }: StoreUnderFault) => writeFileSync(file, ""), "is empty. No release leaves an empty store"],
    [
      "is missing although its write-ahead log exists",
      ({ file }: StoreUnderFault) => renameSync(file, `${file}-wal`),
      "is missing, but its log",
    ],
  ])("the service refuses a store that %s, and creates no new one in its place", async (_, happen, reason) => {
    const store = await StoreUnderFault.prepare();
    happen(store);
    await store.serve();
    expect(await store.lastWords()).toStartWith(`${store.file} ${reason}`);
    const filled = readdirSync(store.dataDir).filter((name) => statSync(join(store.dataDir, name)).size > 0);
    expect(filled.filter((name) => name.startsWith("petstore.db"))).toEqual(
      reason.startsWith("is missing") ? ["petstore.db-wal"] : [],
    );
  });

  test.skipIf(!canMount)("the service refuses a folder on a read-only file system with a reason", async () => {
    const store = await StoreUnderFault.prepare();
    await store.serve(readOnly(store.dataDir, serveCommand));
    expect(await store.lastWords()).toBe(
      `The store at ${store.file} cannot be opened: ${store.dataDir} is on a file system that is mounted read-only. ` +
        "Mount it for writing, or use another data folder.\n",
    );
  });

  const notOurs: [string, (store: StoreUnderFault) => string, (store: StoreUnderFault) => string][] = [
    [
      "a folder",
      ({ dataDir }) => (chmodSync(dataDir, 0o755), dataDir),
      ({ dataDir }) => `chown -R ${NOBODY} ${dataDir}`,
    ],
    [
      "a folder that may not even be looked into",
      ({ dataDir }) => (chmodSync(dataDir, 0o700), dataDir),
      ({ dataDir }) => `chown -R ${NOBODY} ${dataDir}`,
    ],
    [
      "a folder that is missing in one",
      ({ dataDir }) => (rmSync(dataDir, { recursive: true }), chmodSync(dirname(dataDir), 0o755), dirname(dataDir)),
      ({ dataDir }) => `mkdir -p ${dataDir} && chown ${NOBODY} ${dataDir}`,
    ],
    [
      "a file",
      ({ dataDir, file }) => (chmodSync(dataDir, 0o777), chmodSync(file, 0o644), file),
      ({ dataDir }) => `chown -R ${NOBODY} ${dataDir}`,
    ],
    [
      "the log",
      ({ dataDir, file }) => {
        chmodSync(dataDir, 0o777);
        chmodSync(file, 0o666);
        writeFileSync(`${file}-wal`, "");
        return `${file}-wal`;
      },
      ({ dataDir }) => `chown -R ${NOBODY} ${dataDir}`,
    ],
  ];
  test.skipIf(!canBeNobody || !isRoot).each(notOurs)(
    "%s of another user is refused with a reason",
    async (_, happen, repair) => {
      const store = await StoreUnderFault.prepare(join(newDataDir(), "data"));
      chmodSync(dirname(store.dataDir), 0o755);
      const path = happen(store);
      await store.serve(asNobody);
      expect(await store.lastWords()).toBe(
        `The store at ${store.file} cannot be opened: ${path} belongs to user 0, and the service runs as user ${NOBODY}, ` +
          `who may not write there. Run as root: ${repair(store)}. Or use another data folder.\n`,
      );
    },
  );

  test.skipIf(!canBeNobody)("the service refuses a file that its owner may not write, with a reason", async () => {
    const store = await StoreUnderFault.prepare();
    if (isRoot) for (const path of [store.dataDir, store.file]) chownSync(path, NOBODY, NOBODY);
    chmodSync(store.file, 0o444);
    await store.serve(unprivileged);
    expect(await store.lastWords()).toBe(
      `The store at ${store.file} cannot be opened: ${store.file} has the permissions 0444, so its owner cannot ` +
        `write there. Run: chmod u+rwX ${store.file}\n`,
    );
  });

  test("the service creates a missing folder and its parents", async () => {
    await using store = await StoreUnderFault.start((dataDir) => {
      rmSync(dataDir, { recursive: true });
      return serveCommand;
    });
    await store.ready("200 ready");
  });
});
