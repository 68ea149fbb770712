import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { eventually } from "../../../test/harness/program.ts";
import { migrations } from "../../app/schema.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { openPostgres } from "./opening.ts";

/** The lease has not ended if its holder was asked twice within this time, in milliseconds. */
const SURELY_HELD = 1_500;

describe.skipIf(postgresMissing !== undefined)("the lease of the leader", () => {
  let server: PostgresServer;
  let address: PostgresAddress;
  beforeAll(async () => {
    server = await PostgresServer.start();
    address = parsePostgresAddress(server.url(await server.newDatabase())) as PostgresAddress;
  });
  afterAll(() => server.remove());

  test("is held by one of many processes, and passes to another when that one stops renewing it", async () => {
    const storages = await Promise.all(Array.from({ length: 5 }, () => openPostgres(address, { migrations })));
    const leads = () => Promise.all(storages.map((storage) => storage.lead()));
    let first: boolean[] = [];
    let checked = Number.NEGATIVE_INFINITY;
    // Longer than a lease, so it must be renewed.
    for (let round = 0; round < 40; round++) {
      const all = await leads();
      // After a pause, another may lead: then it begins again.
      if (performance.now() - checked > SURELY_HELD) [first, round] = [all, 0];
      checked = performance.now();
      expect(all).toEqual(first);
      expect(all.filter(Boolean)).toHaveLength(1);
      await Bun.sleep(100);
    }
    const leader = first.indexOf(true);
    await storages[leader]?.close();
    storages.splice(leader, 1);
    const next = await eventually(leads, (all) => all.includes(true));
    expect(next.filter(Boolean)).toHaveLength(1);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  test("is held by nobody while the server is unreachable", async () => {
    const storage = await openPostgres(address, { migrations });
    await eventually(() => storage.lead());
    await server.stop("at once");
    const failure = async () => {
      try {
        return (await storage.lead()) ? undefined : "does not lead";
      } catch (error) {
        return (error as Error).name;
      }
    };
    expect(await eventually(failure)).toBe("StorageUnavailable");
    await eventually(failure, (found) => found === "does not lead"); // it tries again every second
    await server.start();
    await eventually(() => storage.lead());
    await storage.close();
  });
});
