// Each operation emits all events that its contract declares, and no others, and they name its request. Without events, it
// changes no animal, category or order; with another If-Match, nothing. Another resource stays as it is. No page that was
// kept is shown after it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { MINUTE_MS } from "../../src/timing/clock.ts";
import { ManualTasks } from "../harness/manual-tasks.ts";
import { type TestResponse, TestService } from "../harness/service.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { secretKey } from "../harness/webhook-service.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

let service: TestService;
let key: string;
beforeAll(async () => {
  // Without background tasks, which would expire reservations before an operation does.
  service = await TestService.start({
    settings: { PETSTORE_SECRET_KEY: secretKey },
    domains: new ManualTasks().domains,
  });
  ({ key } = await service.newAccountWithKey("enterprise", undefined, scopes));
});
afterAll(() => service.stop());

const call = (method: string, path: string, body?: unknown) => service.call(method, path, { key, body });
let made = 0;
const make = async (path: string, body: object) => String((await call("POST", path, body)).json.id);
const allPets = async () => (await call("GET", "/pets?sort=-id&limit=100")).json.toReversed();
/** What changes of the shop add events for. */
const resourcesNow = () =>
  Promise.all(
    ["/pets", "/categories", "/store/orders"].map(async (list) => (await call("GET", `${list}?limit=100`)).json),
  );
const read = async (path?: string): Promise<unknown> => path && (await call("GET", path)).json;
const newPet = () => make("/pets", { name: "Rex", categoryId: 1, status: "available" });

/** Makes the resource that a path parameter names, so that the operation can change it. */
const resources: Readonly<Record<string, (operation: Operation) => Promise<string>>> = {
  petId: newPet,
  categoryId: () => make("/categories", { name: `Category ${++made}` }),
  orderId: async ({ name }) => {
    const id = await make("/store/orders", { petId: Number(await newPet()) });
    if (name === "returnStoreOrder") await call("POST", `/store/orders/${id}/confirm`);
    return id;
  },
  keyId: () => make("/keys", { name: "till", scopes: ["read"] }),
  endpointId: () => make("/webhook-endpoints", { url: "https://example.org/petstore" }),
};

/** What must be in the shop before a success changes something. */
const preparations: Readonly<Record<string, () => Promise<unknown>>> = {
  fastForwardSandbox: async () => make("/store/orders", { petId: Number(await newPet()) }),
};
/** Operations that put another shop, whose log is empty, in the place of the one there is. */
const replacing: ReadonlySet<string> = new Set(["resetSandbox"]);

/** What must be in the body besides its example, which may name what does not exist. */
const bodies: Readonly<Record<string, () => Promise<object>>> = {
  placeStoreOrder: async () => ({ petId: Number(await newPet()) }),
  redeliverWebhooks: async () => ({ from: 1 }),
  deletePets: async () => ({ ids: [Number(await newPet())] }),
};

/** The operation and type of each event so far. */
const seen = new Set<string>();
/** What each operation has emitted when it was called once. */
const emitted = new Map<string, Promise<string[]>>();

/** Types of the events that are added while an operation runs. `work` returns its response. */
async function eventsOf(operation: string, work: () => Promise<TestResponse>, isNewLog = false): Promise<string[]> {
  const [newest] = (await call("GET", "/events?sort=-id&limit=1")).json as { id: number }[];
  const requestId = (await work()).headers.get("x-request-id") as string;
  const { json } = await call("GET", `/events?limit=100&after=${isNewLog ? 0 : (newest?.id ?? 0)}`);
  const events = json as { type: string; actor: { kind: string; requestId?: string } }[];
  // The service itself expires reservations, and the operator has sold the samples of a reset.
  for (const { type, actor } of events.filter((one) => one.actor.kind === "key"))
    expect([operation, type, actor.requestId]).toEqual([operation, type, requestId]);
  const types = events.map(({ type }) => type);
  for (const type of types) seen.add(`${operation} ${type}`);
  return types;
}

/** The types of the events of one valid call, which is made only once. */
function emittedBy(operation: Operation): Promise<string[]> {
  return emitted.getOrInsertComputed(operation.name, () => callOnce(operation));
}

async function callOnce(operation: Operation): Promise<string[]> {
  const { name, method } = operation;
  let { path }: { path: string } = operation;
  /** The path of another resource, which must stay as it is. */
  let neighbour: string | undefined;
  for (const [hole, parameter = ""] of operation.path.matchAll(/\{([^}]*)\}/g)) {
    const resource = resources[parameter];
    if (!resource) throw new Error(`Say above how to make what ${parameter} names.`);
    neighbour = path.slice(0, path.indexOf(hole)) + (await resource(operation));
    path = path.replace(hole, await resource(operation));
  }
  const example = bodyOf(operation);
  const body = example && { ...JSON.parse(example), ...(await bodies[name]?.()) };
  await preparations[name]?.();
  await newPet(); // after which the page of those before is kept, once it was read twice
  const page = `/pets?limit=${Math.max(1, (await allPets()).length - 1)}`;
  for (const each of [page, page]) await call("GET", each);
  const untouched = await read(neighbour);
  const before = await resourcesNow();
  const send = async () => {
    if (operation.ifMatch) {
      const other = { key, ...(body && { body }), headers: { "If-Match": '"other"' } };
      const { status } = await service.call(method, path, other);
      expect([name, status, await resourcesNow()]).toEqual([name, 412, before]);
    }
    const response = await call(method, path, body);
    const { status, text } = response;
    expect([text, status]).toEqual([text, operation.response.status]);
    expect([name, await read(neighbour)]).toEqual([name, untouched]);
    if (operation.emits?.length === 0) expect([name, await resourcesNow()]).toEqual([name, before]);
    const shown = (await call("GET", page)).json;
    expect(shown).toEqual((await allPets()).slice(0, shown.length));
    return response;
  };
  return eventsOf(name, send, replacing.has(name));
}

const emitting = operations.filter(({ emits }) => emits !== undefined);

test.each(emitting.map((operation) => [operation.name, operation] as const))(
  "%s emits the events that it declares",
  async (_, operation) => {
    const { emits = [] } = operation;
    const types = await emittedBy(operation);
    expect(types).toEqual(emits[0] ? expect.arrayContaining([emits[0]]) : []);
    expect(types.filter((type) => !emits.includes(type as never))).toEqual([]);
  },
);

test("each event that an operation emits only sometimes is emitted", async () => {
  for (const operation of emitting) await emittedBy(operation);
  const categoryId = Number(await make("/categories", { name: `Category ${++made}` }));
  await call("POST", "/pets", { name: "Rex", categoryId });
  const other = await make("/categories", { name: `Category ${++made}` });
  await eventsOf("deleteCategory", () => call("DELETE", `/categories/${categoryId}?moveTo=${other}`));
  const overdue = {
    importPets: (_: number, reference: string) => {
      const animals = [{ name: "Rex", categoryId, status: "sold", reference }];
      return call("POST", "/pets/import", { animals, onExisting: "update" });
    },
    placeStoreOrder: (petId: number) => call("POST", "/store/orders", { petId }),
    updatePet: (petId: number) => call("PATCH", `/pets/${petId}`, { status: "sold" }),
    deletePet: (petId: number) => call("DELETE", `/pets/${petId}`),
    deletePets: (petId: number) => call("POST", "/pets/delete", { ids: [petId] }),
  };
  for (const [name, change] of Object.entries(overdue)) {
    const reference = `chip ${++made}`;
    const petId = Number(await make("/pets", { name: "Rex", categoryId: 1, status: "available", reference }));
    await call("POST", "/store/orders", { petId });
    service.clock.advance(15 * MINUTE_MS);
    await eventsOf(name, () => change(petId, reference));
  }
  const sold = Number(await newPet());
  await eventsOf("placeStoreOrder", () => call("POST", "/store/orders", { petId: sold, confirm: true }));
  const declared = operations.flatMap(({ name, emits = [] }) => emits.map((type) => `${name} ${type}`));
  expect([...seen].toSorted()).toEqual(declared.toSorted());
});
