// One shop's data behaves as if it did not exist for another: the same requests to a shop get the same responses before
// and after another shop has data with the same ids.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { takesIdempotencyKey } from "../../src/contract/operation-properties.ts";
import { statements } from "../../src/storage/statement.ts";
import { filtersOf } from "../harness/query-examples.ts";
import { type TestResponse, TestService } from "../harness/service.ts";
import { lockAwaited, onPostgres } from "../harness/test-store.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";

const all: readonly Operation[] = domains.flatMap(({ operations }) => operations);
/** Operations on data of the shop. Operations on keys, usage and webhooks have separate tests, and return random values. */
const operations = all.filter(({ tag }) => tag.name !== "account" && tag.name !== "webhooks");
/** Ordered so that each finds the data it needs: first operations that create, then those that read, then the others. */
const ordered = operations.toSorted((one, other) => rank(one) - rank(other));

const reads = operations.filter(({ method }) => method === "GET");

function rank({ method, name }: Operation): number {
  if (name === "createCategory") return 0;
  return { POST: name.startsWith("create") || name.startsWith("place") ? 1 : 3, GET: 2, PATCH: 4, PUT: 4, DELETE: 5 }[
    method
  ];
}

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

const newShop = async () => (await service.newAccountWithKey("enterprise", unlimitedQuota, scopes)).key;

/** The parts of a response that must not depend on other shops. */
const comparable = ({ status, text: whole, headers }: TestResponse) => {
  // How many events the beginning of a stream has depends on timing. event-stream.both.test.ts tests which events arrive.
  const text = headers.get("content-type") === "text/event-stream" ? whole.split("\n", 2).join("\n") : whole;
  const anonymous = text.replaceAll(/key_\w{16}|psk_\w+…\w+/g, "").replaceAll(/"requestId":"[^"]+"/g, '"requestId":""');
  // An entity tag follows from the text.
  return [status, anonymous, anonymous === text && headers.get("etag"), headers.get("location")];
};

interface Extra {
  readonly headers?: Record<string, string>;
  readonly query?: string;
}

function send(key: string, operation: Operation, { headers = {}, query = "" }: Extra = {}): Promise<TestResponse> {
  const body = bodyOf(operation);
  return service.call(operation.method, pathOf(operation) + query, {
    key,
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

/** Sends every operation with every filter, and some with an Idempotency-Key that each shop uses. */
async function transcript(key: string): Promise<unknown[][]> {
  const responses: unknown[][] = [];
  for (const operation of ordered) {
    const headers: Record<string, string> = takesIdempotencyKey(operation)
      ? { "Idempotency-Key": "same-in-each-shop" }
      : {};
    responses.push([operation.name, ...comparable(await send(key, operation, { headers }))]);
    if (operation.method !== "GET") continue;
    for (const query of filtersOf(operation)) {
      responses.push([operation.name, query, ...comparable(await send(key, operation, { query }))]);
    }
  }
  return responses;
}

/** All that reads show of a shop. */
const everythingOf = (key: string) =>
  Promise.all(reads.map(async (operation) => [operation.name, comparable(await send(key, operation))]));

test("every operation returns the same in a shop after another shop has data, and changes nothing there", async () => {
  const before = await transcript(await newShop());
  const other = await newShop();
  for (let id = 1; id <= 30; id++) {
    await service.call("POST", "/categories", { key: other, body: { id, name: `Other ${id}` } });
    await service.call("POST", "/pets", { key: other, body: { name: "Other", categoryId: id, status: "available" } });
  }
  for (let petId = 1; petId <= 9; petId++) await service.call("POST", "/store/orders", { key: other, body: { petId } });
  const untouched = await everythingOf(other);
  const known = statements.length;
  const after = await transcript(await newShop());
  expect(await everythingOf(other)).toEqual(untouched);
  expect(statements).toHaveLength(known); // engines cache every statement, so requests must not create any
  expect(before.length).toBeGreaterThan(operations.length);
  const statuses = before.map((response) => response.find((part) => typeof part === "number"));
  expect(statuses.filter((status) => status === 403)).toEqual([]);
  expect(statuses.filter((status) => status && status < 300).length).toBeGreaterThan(operations.length);
  expect(after).toEqual(before);
});

test("a cursor of one shop is refused in another", async () => {
  const [one, other] = [await newShop(), await newShop()];
  for (const key of [one, other]) {
    for (let id = 1; id <= 3; id++) {
      await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1, status: "available" } });
      await service.call("POST", "/categories", { key, body: { name: `Dogs ${id}` } });
      await service.call("POST", "/store/orders", { key, body: { petId: id } });
    }
    await service.call("PATCH", "/pets/1", { key, body: { name: "Ida" } });
  }
  let walked = 0;
  for (const operation of operations.filter(({ paged }) => paged)) {
    const { headers } = await send(one, operation, { query: "?limit=1" });
    const cursor = /cursor=([^>&]+)>/.exec(headers.get("link") ?? "")?.[1];
    expect([operation.name, cursor]).toEqual([operation.name, expect.any(String) as string]);
    walked++;
    const query = `?limit=1&cursor=${cursor}`;
    const foreign = await send(other, operation, { query });
    const unknown = await send(other, operation, { query: "?limit=1&cursor=nonsense" });
    expect([operation.name, (await send(one, operation, { query })).status]).toEqual([operation.name, 200]);
    expect([operation.name, ...comparable(foreign)]).toEqual([operation.name, ...comparable(unknown)]);
    expect(foreign.status).toBe(400);
  }
  expect(walked).toBeGreaterThan(2);
});

const read = (key: string, path: string, headers = {}) => service.call("GET", path, { key, headers });

test("an entity tag of one shop does not match another shop's resource with the same id", async () => {
  const [one, other] = [await newShop(), await newShop()];
  for (const [key, word] of [
    [one, "one"],
    [other, "other"],
  ] as const) {
    await service.call("POST", "/pets", { key, body: { name: word, categoryId: 1, status: "available" } });
    await service.call("POST", "/categories", { key, body: { id: 1, name: word } });
    await service.call("POST", "/store/orders", { key, body: { petId: 1, reference: word } });
  }
  const conditional = operations.filter(({ ifMatch }) => ifMatch);
  for (const operation of conditional) {
    const path = pathOf(operation).replace(/\/(confirm|cancel|return)$/, "");
    const foreign = (await read(one, path)).headers.get("etag") as string;
    const before = await read(other, path);
    expect([operation.name, before.status, before.headers.get("etag")]).not.toEqual([operation.name, 200, foreign]);
    // The response to the tag of the other shop is the response to one that nobody has.
    const matched = await send(other, operation, { headers: { "If-Match": foreign } });
    const unknown = await send(other, operation, { headers: { "If-Match": '"nobodys"' } });
    expect([operation.name, ...comparable(matched)]).toEqual([operation.name, ...comparable(unknown)]);
    expect([operation.name, matched.status]).toEqual([operation.name, 412]);
    const { status, text } = await read(other, path, { "If-None-Match": foreign });
    expect([operation.name, status, text]).toEqual([operation.name, 200, before.text]);
  }
  expect(conditional.length).toBeGreaterThan(4);
});

/** Requests that name an animal, a category or an order. */
const cases = (id: number) => [
  ["GET", `/pets?ids=${id}`],
  ["GET", `/pets?categoryId=${id}`],
  ["GET", `/store/orders?petId=${id}`],
  ["GET", `/events?petId=${id}`],
  ["GET", `/events?orderId=${id}`],
  ["POST", "/store/orders", { petId: id }],
  ["DELETE", `/categories/9?moveTo=${id}`],
  ...operations
    .filter(
      ({ params, name }) => params && /^(get|update|delete|confirm|cancel|return)(Pet|Category|StoreOrder)$/.test(name),
    )
    .map((operation) => [
      operation.method,
      pathOf(operation).replace("1", `${id}`),
      operation.body && bodyOf(operation),
    ]),
];

test("an id that only another shop has is unknown in the path, the query and the body", async () => {
  const [one, other] = [await newShop(), await newShop()];
  for (const id of [1, 2]) {
    await service.call("POST", "/pets", { key: one, body: { name: "Rex", categoryId: id, status: "available" } });
    await service.call("POST", "/categories", { key: one, body: { id, name: `Dogs ${id}` } });
    await service.call("POST", "/store/orders", { key: one, body: { petId: id } });
  }
  await service.call("POST", "/pets", { key: other, body: { name: "Ida", categoryId: 9, status: "available" } });
  await service.call("POST", "/categories", { key: other, body: { id: 9, name: "Cats" } });
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await service.call(method, path, { key: other, ...(body !== undefined && { body }) });
    return [
      method,
      path.replace("777", "2"),
      ...comparable({ ...response, text: response.text.replaceAll("777", "2") }),
    ];
  };
  const known = cases(2);
  expect(known.length).toBeGreaterThan(14);
  for (const [index, unknown] of cases(777).entries()) {
    const foreign = known[index] as [string, string, unknown?];
    expect(await call(...foreign)).toEqual(await call(...(unknown as [string, string, unknown?])));
  }
});

test("an Idempotency-Key of one shop is unused in another", async () => {
  const [one, other] = [await newShop(), await newShop()];
  const headers = { "Idempotency-Key": "order-of-today" };
  const first = await service.call("POST", "/pets", { key: one, headers, body: { name: "Rex", categoryId: 1 } });
  const second = await service.call("POST", "/pets", { key: other, headers, body: { name: "Ida", categoryId: 2 } });
  expect([first.status, first.json.name, second.status, second.json.name]).toEqual([201, "Rex", 201, "Ida"]);
  expect(second.headers.get("idempotent-replayed")).toBeNull();
});

test("both shops assign the same ids, from 1", async () => {
  const keys = [await newShop(), await newShop()];
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      service.call("POST", "/pets", { key: keys[index % 2], body: { name: "Rex", categoryId: index } }),
    ),
  );
  const ids = (start: number) =>
    responses
      .filter((_, index) => index % 2 === start)
      .map(({ json }) => json.id as number)
      .toSorted((a, b) => a - b);
  const expected = Array.from({ length: 50 }, (_, index) => index + 1);
  expect([ids(0), ids(1)]).toEqual([expected, expected]);
});

const addAnimal = async (key: string) =>
  (await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } })).status;

/** Locks a new shop. */
async function lockNewShop() {
  const { key, account } = await service.newAccountWithKey("enterprise");
  return { locked: key, unlock: await service.store.lockShop(await service.shop(account.id)) };
}

test.skipIf(!onPostgres)("an animal is added when its shop is unlocked in time", async () => {
  const { locked, unlock } = await lockNewShop();
  const adding = addAnimal(locked);
  await lockAwaited(service.store);
  expect(await addAnimal(await newShop())).toBe(201);
  await unlock();
  expect(await adding).toBe(201);
});

test.skipIf(!onPostgres)("creates of a shop that stays locked are refused, and other shops continue", async () => {
  const [{ locked, unlock }, other] = [await lockNewShop(), await newShop()];
  let waiting = 10;
  const adding = Array.from({ length: waiting }, () => addAnimal(locked).finally(() => waiting--));
  await lockAwaited(service.store);
  expect([await addAnimal(other), waiting]).toEqual([201, 10]);
  // Again, now that the service knows the locked shop.
  const [late] = await Promise.all([addAnimal(locked), addAnimal(other)]);
  expect([late, ...(await Promise.all(adding))]).toEqual(Array.from({ length: 11 }, () => 503));
  await unlock();
  expect(await addAnimal(locked)).toBe(201);
});
