// Follows the events of a shop with several writers over connections that break again and again. `npm run torture`
// runs it for longer. On PostgreSQL, writers and followers use different processes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Listener } from "../../../test/harness/listener.ts";
import { Random } from "../../../test/harness/random.ts";
import { TestService } from "../../../test/harness/service.ts";
import { rounds } from "../../../test/harness/test-length.ts";
import { newTestStore, onPostgres, type TestStore } from "../../../test/harness/test-store.ts";
import { scopes } from "../../contract/caller.ts";

const CONNECTIONS = rounds(40, 1_000);
const WRITERS = 4;
/** The maximum number of events on one connection. */
const LONGEST = 12;
const SEED = Number(process.env["TORTURE_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0]);

let store: TestStore;
let writing: TestService;
let following: TestService;
let key: string;
beforeAll(async () => {
  store = await newTestStore();
  writing = await TestService.start({ store });
  following = onPostgres ? await TestService.start({ store, clock: writing.clock }) : writing;
  ({ key } = await writing.newAccountWithKey("enterprise", undefined, scopes)); // one that sees all events
});
afterAll(async () => {
  if (following !== writing) await following.app.stop();
  await writing.stop();
});

/**
 * The ids that a client receives over many connections. Each one continues where the previous one broke: after the id of
 * the last event, as the standard says, or after the newest id, as some clients do.
 */
async function follow(
  query: string,
  resumeAfter: "lastId" | "newestId",
  connections: number,
  random: Random,
): Promise<number[]> {
  const ids: number[] = [];
  let lastId = "0";
  for (let count = 0; count < connections; count++) {
    const listener = await Listener.open(`${following.app.base}/events/stream${query}`, key, {
      "Last-Event-ID": lastId,
    });
    const many = random.below(LONGEST);
    const state = await listener.until(({ events, newestId }) => newestId !== "" && events.length >= many);
    listener.close();
    ids.push(...state.events.map(({ id }) => Number(id)));
    lastId = state[resumeAfter] || lastId;
  }
  return ids;
}

const call = (method: string, path: string, body?: unknown) => writing.call(method, path, { key, body });

/** Adds, changes and deletes animals until it is stopped. */
async function write(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const { json } = await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" });
    const placed = await call("POST", "/store/orders", { petId: json.id });
    await call("POST", `/store/orders/${placed.json.id}/cancel`);
    await call("DELETE", `/pets/${json.id}`);
  }
}

test(
  "nothing is missed or repeated over lost connections, next to writers",
  async () => {
    console.log(`To repeat: npm run torture -- --seed ${SEED}`);
    let isDone = false;
    const writers = Array.from({ length: WRITERS }, () => write(() => isDone));
    const type = "order.cancelled";
    const [all, alsoAll, some] = await Promise.all([
      follow("", "lastId", CONNECTIONS, new Random(SEED)),
      follow("", "newestId", CONNECTIONS, new Random(SEED + 2)),
      follow(`?type=${type}`, "newestId", Math.ceil(CONNECTIONS / 10), new Random(SEED + 1)),
    ]).finally(() => (isDone = true));
    await Promise.all(writers);
    for (const ids of [all, alsoAll]) {
      expect(ids.length).toBeGreaterThan(CONNECTIONS);
      expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
    }
    const wanted = (await store.rows(
      `SELECT id FROM events WHERE type = '${type}' ORDER BY id LIMIT ${some.length}`,
    )) as {
      id: number | bigint;
    }[];
    expect(some).toEqual(wanted.map(({ id }) => Number(id)));
  },
  60_000 + CONNECTIONS * 500,
);
