// Connections are cut before, during and after the response: nothing that was called for is lost, and nothing done twice.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { TestService } from "../../test/harness/service.ts";
import { rounds } from "../../test/harness/test-length.ts";
import { type Clock, Petstore } from "../src/index.ts";

const CREATES = rounds(300, 10_000);

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** Waits pass twenty times as fast: a test has no need of them. */
const fastClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds / 20);
    return () => clearTimeout(timer);
  },
};

/** After how many bytes of the response a connection is cut. Connections take the values in turn: never, at once, after 40 bytes. */
const cuts = [Number.POSITIVE_INFINITY, 0, 40];

/** A proxy that cuts connections: some before the request has arrived, some before or within the response. */
async function startCuttingProxy(port: number): Promise<Server> {
  let connections = 0;
  const proxy = createServer((client) => {
    connections++;
    let left = cuts[connections % cuts.length] as number;
    client.on("error", () => {});
    if (connections % 7 === 0) return client.destroy();
    const upstream = connect(port, "127.0.0.1");
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.end());
    client.pipe(upstream);
    upstream.on("end", () => client.end());
    return upstream.on("data", (bytes) => {
      client.write(bytes.subarray(0, Math.max(0, left)));
      left -= bytes.length;
      if (left <= 0) client.destroy();
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

test("each animal is added once through a proxy that cuts connections", async () => {
  const proxy = await startCuttingProxy(service.app.port);
  try {
    const key = await service.newKey();
    let attempts = 0;
    const petstore = new Petstore({
      key,
      baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`,
      retries: 30,
      timeout: 3_600_000,
      clock: fastClock,
      // Each request has its own connection, so that each can be cut.
      onRequest({ headers }) {
        attempts++;
        headers.set("Connection", "close");
      },
    });
    const names = Array.from({ length: CREATES }, (_, index) => `Pet ${index}`);
    const created = await Promise.all(names.map((name) => petstore.createPet({ name, categoryId: 5 })));
    const direct = new Petstore({ key, baseUrl: service.app.base });
    const listed: string[] = [];
    for await (const pet of direct.listPets({ categoryId: 5, limit: 100 })) listed.push(pet.name);
    expect(listed.toSorted()).toEqual(names.toSorted());
    expect(new Set(created.map(({ id }) => id)).size).toBe(CREATES);
    expect(attempts).toBeGreaterThan(CREATES);
  } finally {
    proxy.close();
  }
});

test("a list read through such a proxy, while animals are added, contains each animal once", async () => {
  const proxy = await startCuttingProxy(service.app.port);
  try {
    const key = await service.newKey();
    const writer = new Petstore({ key, baseUrl: service.app.base });
    const reader = new Petstore({
      key,
      baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/v1`,
      retries: 30,
      timeout: 3_600_000,
      clock: fastClock,
      onRequest: ({ headers }) => headers.set("Connection", "close"),
    });
    const add = (count: number) =>
      Promise.all(Array.from({ length: count }, () => writer.createPet({ name: "Rex", categoryId: 6 })));
    const added = await add(50);
    const seen: bigint[] = [];
    let writes: Promise<unknown> = Promise.resolve();
    for await (const pet of reader.listPets({ categoryId: 6, limit: 5 })) {
      seen.push(pet.id);
      // While the first animals are read, four writers add at once after them.
      if (seen.length <= 50 && seen.length % 5 === 0)
        writes = Promise.all([writes, add(4).then((pets) => added.push(...pets))]);
    }
    await writes;
    const ids = added.map(({ id }) => id).toSorted((one, other) => Number(one - other));
    expect(seen).toEqual(ids.slice(0, seen.length));
    expect(seen.length).toBeGreaterThan(80);
  } finally {
    proxy.close();
  }
});
