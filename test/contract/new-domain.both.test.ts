// What it takes to add a domain: its folder (here one file, `harness/toys.ts`) and one line in the list of domains, until
// the release also one migration. Everything derived, and every generated test, works for it without changes. `../store/page-costs.engines.test.ts`
// measures its pages, and `../store/migrate-store.engines.test.ts` moves its table.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { migrations } from "../../src/app/schema.ts";
import { storeAccess } from "../../src/app/store/store-access.ts";
import { run } from "../../src/cli/run.ts";
import type { Config } from "../../src/config.ts";
import type { ServedDomain } from "../../src/domains/callers.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { SqliteStorage } from "../../src/storage/sqlite/sqlite-storage.ts";
import type { OpenStorage, StorageObserver } from "../../src/storage/storage.ts";
import { everyOperation } from "../conformance/every-operation.ts";
import { contextOf } from "../harness/commands.ts";
import { untilMetric } from "../harness/metrics.ts";
import { type TestOptions, TestService } from "../harness/service.ts";
import { toys, toyTable } from "../harness/toys.ts";

/** The line in the list of domains. */
const served: readonly ServedDomain[] = [...domains, toys];
/** The migration. */
const steps = [...migrations, toyTable];

async function openStore(config: Config, observer?: StorageObserver, stop?: AbortSignal): Promise<OpenStorage> {
  const { database, dataDir } = config;
  if (database) return openPostgres(database, { observer, stop, migrations: steps });
  return new SqliteStorage(join(dataDir, "petstore.db"), steps, observer);
}

const access = (config: Config) => ({
  ...storeAccess(config),
  open: (observer?: StorageObserver) => openStore(config, observer),
});

const start = (options: TestOptions = {}) => TestService.start({ ...options, domains: served, openStore });

describe("an operation of a new domain", () => everyOperation(toys.operations, start));

describe("a new domain", () => {
  const settings = { PETSTORE_TOYS_KEPT: "2" };
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await start({ settings });
    key = await service.newKey();
  });
  afterAll(() => service.stop());

  const listed = async () => (await service.call("GET", "/toys", { key })).json;

  /** Runs a command line on the store of the service, as the program of which the domain is a part. */
  async function command(...words: string[]) {
    const { context, output } = contextOf(service.store.folder, { ...service.store.settings, ...settings });
    return { status: await run(words, context, { served, access }), ...output };
  }

  test("runs its background task with its setting, and shows it in its metric", async () => {
    for (const toy of ["Ball", "Rope", "Bone", "Ring"]) {
      expect((await service.call("POST", "/toys", { key, body: { name: toy } })).status).toBe(201);
    }
    await untilMetric(service.app.base, "petstore_toys_discarded_total", 2); // in the next round
    expect(await listed()).toEqual([
      { id: 3, name: "Bone" },
      { id: 4, name: "Ring" },
    ]);
  });

  test("has its command, with its setting, in the help and in suggestions", async () => {
    expect(await command("toys", "count")).toEqual({ status: 0, stdout: "2 toys, of at most 2.\n", stderr: "" });
    const { stdout } = await command("--help");
    expect(stdout).toContain("  toys count ");
    expect(stdout).toContain("  PETSTORE_TOYS_KEPT ");
    expect((await command("toys", "cuont")).stderr).toContain("Did you mean toys count?");
  });
});

test.each([
  ["does not serve what it lists", { ...toys, open: () => [] }, "see listToys, createToy, getToy."],
  ["serves what it does not list", { ...toys, operations: [] }, "see listToys, createToy, getToy."],
] as const)("a domain that %s does not start", async (_, domain, message) => {
  const starting = TestService.start({ domains: [...domains, domain], openStore });
  expect(await starting.catch(String)).toContain(message);
});
