// A walk through a list misses no animal and shows none twice, whichever processes add animals during it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "../harness/client.ts";
import { Load } from "../harness/load.ts";
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { newAccount } from "../harness/processes.ts";
import { newDataDir, Program, serveCommand, serveSource } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

const PROCESSES = 4;
const WRITERS = 64;
const WALKS = process.env["TORTURE"] === "long" ? 2_000 : 200;
const sequenceIds = join(import.meta.dir, "controls/sequence-ids.ts");
const [bun = "", ...main] = serveSource;

interface Shown {
  readonly id: number;
}

/** What walks have found. */
interface Found {
  walks: number;
  animals: number;
  /** The highest id of an animal that was acknowledged. */
  acknowledged: number;
  /** Animals that a walk left out, or showed twice. */
  readonly faults: string[];
}

/**
 * Walks through the list of animals, whose ids are 1, 2, 3 and so on. Each walk begins at the last page of the one
 * before, whose end was in the midst of what was added.
 */
async function walk(client: Client, found: Found): Promise<void> {
  let last = { path: "/pets?limit=100", id: 0 };
  // On a busy machine, walks can be faster than writers.
  for (; found.walks < WALKS || found.animals <= WALKS; found.walks++) {
    const { acknowledged } = found;
    for (let { path, id } = last; ; ) {
      const { text = "", headers } = await client.call("GET", path);
      for (const animal of JSON.parse(text) as Shown[]) {
        if (animal.id !== id + 1) found.faults.push(`${id} was followed by ${animal.id}`);
        ({ id } = animal);
        found.animals++;
      }
      const next = nextOf({ headers });
      if (next === undefined) {
        if (id < acknowledged) found.faults.push(`a walk ended at ${id}, before ${acknowledged}`);
        break;
      }
      path = next;
      last = { path, id };
    }
  }
}

describe.skipIf(postgresMissing !== undefined)("reading all pages alongside 64 writers at four processes", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  /** Walks while animals are added, with processes that this starts. */
  async function walkBesideWriters(command: readonly string[], prepare = ""): Promise<Found> {
    const database = await server.newDatabase();
    const settings = { PETSTORE_ENV: "staging", PETSTORE_DATABASE_URL: server.url(database) };
    const { key, storage } = await newAccount(settings, unlimitedQuota);
    await storage.close();
    if (prepare !== "") await server.run(prepare, database);
    const programs = await Promise.all(
      Array.from({ length: PROCESSES }, () => Program.start(newDataDir(), settings, command)),
    );
    const clientOf = (index: number) => new Client((programs[index % PROCESSES] as Program).base, key);
    const found: Found = { walks: 0, animals: 0, acknowledged: 0, faults: [] };
    const clients = Array.from({ length: WRITERS }, (_, index) => clientOf(index));
    const load = new Load(
      WRITERS,
      async (index) => {
        const { text = "" } = await (clients[index] as Client).call("POST", "/pets", '{"name":"Rex","categoryId":1}');
        found.acknowledged = Math.max(found.acknowledged, (JSON.parse(text) as Shown).id);
      },
      0,
    );
    await Promise.all(Array.from({ length: PROCESSES }, (_, index) => walk(clientOf(index), found)));
    await load.end();
    for (const program of programs) expect(await program.end()).toBe(0);
    return found;
  }

  test(`returns every animal once: ${WALKS} times`, async () => {
    const { faults, animals, walks } = await walkBesideWriters(serveCommand);
    expect([faults.slice(0, 10), walks >= WALKS]).toEqual([[], true]);
    expect(animals).toBeGreaterThan(WALKS);
  }, 600_000);

  test("control: misses some if ids come from a sequence", async () => {
    const command = [bun, "--preload", sequenceIds, ...main];
    const { faults } = await walkBesideWriters(command, "CREATE SEQUENCE control_ids");
    expect(faults).not.toEqual([]);
  }, 600_000);
});
