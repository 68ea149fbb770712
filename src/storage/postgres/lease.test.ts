import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { eventually } from "../../../test/harness/program.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { openPostgres } from "./opening.ts";

describe.skipIf(postgresMissing !== undefined)("the lease of the leader", () => {
  let server: PostgresServer;
  let address: PostgresAddress;
  beforeAll(async () => {
    server = await PostgresServer.start();
    address = parsePostgresAddress(server.url(await server.newDatabase())) as PostgresAddress;
  });
  afterAll(() => server.remove());

  test("is held by one of many processes, and passes to another when that one stops renewing it", async () => {
    const storages = await Promise.all(Array.from({ length: 5 }, () => openPostgres(address)));
    const leads = () => Promise.all(storages.map((storage) => storage.lead()));
    const first = await leads();
    expect(first.filter(Boolean)).toHaveLength(1);
    const leader = first.indexOf(true);
    // Longer than a lease, so it must be renewed.
    for (let round = 0; round < 40; round++) {
      expect(await leads()).toEqual(first);
      await Bun.sleep(100);
    }
    await storages[leader]?.close();
    storages.splice(leader, 1);
    const next = await eventually(leads, (all) => all.includes(true));
    expect(next.filter(Boolean)).toHaveLength(1);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  test("passes from a substitute to any other process at once, and to a substitute only when nobody holds it", async () => {
    const [substitute, other] = [await openPostgres(address), await openPostgres(address)];
    await eventually(() => substitute.lead(true));
    const begin = performance.now();
    while (performance.now() - begin < 4_000) {
      expect(await substitute.lead(true)).toBe(true); // renewed: a lease is shorter
      await Bun.sleep(100);
    }
    expect(await other.lead()).toBe(true);
    await eventually(async () => !(await substitute.lead(true)));
    for (let round = 0; round < 15; round++) {
      expect([await substitute.lead(true), await other.lead()]).toEqual([false, true]);
      await Bun.sleep(100);
    }
    await other.close();
    await eventually(() => substitute.lead(true));
    await eventually(() => substitute.lead()); // it is one no more
    await substitute.close();
  });

  test("is held by nobody while the server is unreachable", async () => {
    const storage = await openPostgres(address);
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
    expect(await failure()).toBe("does not lead");
    await server.start();
    await eventually(() => storage.lead());
    await storage.close();
  });
});
