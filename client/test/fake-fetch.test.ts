// The fake service of tests against the real one.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import { exactJson } from "../../src/contract/serialize.ts";
import { exampleOf } from "../../src/derive/openapi-examples.ts";
import { TestService } from "../../test/harness/service.ts";
import { bodyOf } from "../../test/harness/valid-call.ts";
import { type Event, isErrorOf, Petstore, parse, stringify } from "../src/index.ts";
import { type FakeResponses, fakeFetch } from "../src/testing.ts";

const operations = domains.flatMap((domain) => domain.operations);
const baseUrl = "http://petstore.test/v1";

/** A client of the fake service. */
const fake = (responses?: FakeResponses) => new Petstore({ key: "psk_test_1", baseUrl, fetch: fakeFetch(responses) });

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

/** The address of an operation with the parameters of its examples. */
function addressOf({ path, params }: (typeof operations)[number]): string {
  return (
    baseUrl +
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(exampleOf(params?.schema.properties[name] ?? {})))
  );
}

const headers = { Authorization: "Bearer psk_test_any" };

test("each operation responds with its example", async () => {
  const fetch = fakeFetch();
  for (const operation of operations) {
    const { name, method, response } = operation;
    const { status, body } = await fetch(addressOf(operation), { method, headers, body: bodyOf(operation) ?? null });
    expect([name, status]).toEqual([name, response.status]);
    if (response.status === 204) continue;
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    const text = new TextDecoder().decode(value);
    const [example] = Object.values(response.examples ?? {});
    expect([name, parse(text.replace(/^event: .*\ndata: (.*)\nid: .*\n\n$/, "$1"))]).toEqual([
      name,
      parse(stringify(example)),
    ]);
  }
});

test("each operation fails with each of its errors", async () => {
  for (const operation of operations) {
    for (const { code, status } of errorsOf(operation)) {
      const fetch = fakeFetch({ [operation.name]: code });
      const response = await fetch(addressOf(operation), { method: operation.method, headers });
      expect([code, response.status, ((await response.json()) as { code: string }).code]).toEqual([code, status, code]);
    }
  }
});

test("the client throws each error of each operation at once, whatever it would repeat", async () => {
  const clock = { now: () => 0, after: () => () => {} }; // it stands still: a call that waits never ends
  for (const operation of operations) {
    for (const { code } of errorsOf(operation)) {
      let requests = 0;
      const pretended = fakeFetch({ [operation.name]: code });
      const fetch = (...request: Parameters<typeof pretended>) => (requests++, pretended(...request));
      const petstore = new Petstore({ key: "psk_test_1", baseUrl, fetch, clock });
      const call = petstore[operation.name as "getPet"].bind(petstore);
      const { path, body } = operation;
      const inputs = [...Array(path.split("{").length - 1).fill(1), ...(body ? [{}] : [])] as [number];
      const result = call(...inputs) as unknown as Promise<unknown> & { page?(): Promise<unknown>; next?(): never };
      const error = await (result.page?.() ?? result.next?.() ?? result).catch(
        (reason: { code: string }) => reason.code,
      );
      expect([operation.name, error, requests]).toEqual([operation.name, code, 1]);
    }
  }
});

test("a sale that is confirmed at once is a confirmed order with its price", async () => {
  const order = await fake().placeStoreOrder({ petId: 1, confirm: true });
  expect(order).toMatchObject({ status: "confirmed", price: { amount: 24_900 }, seller: "Maria" });
  expect(order.$response.status).toBe(201);
  expect(await fake().placeStoreOrder({ petId: 1 })).toMatchObject({ status: "placed" });
  const own = fake({ placeStoreOrder: "pet_not_available" }).placeStoreOrder({ petId: 1, confirm: true });
  expect(await own.catch(({ code }: { code: string }) => code)).toBe("pet_not_available");
});

const tryIt = (method: string, path: string, responses: FakeResponses) =>
  fakeFetch(responses)(`${baseUrl}${path}`, {
    method,
    headers: { authorization: "Bearer psk_test_1" },
    body: method === "GET" ? null : "{}",
  });

test("refuses bodies that the service refuses", async () => {
  const wrong = [
    [{ name: "Rex" }, "/body/categoryId"],
    [{ name: "Rex", categoryId: "1" }, "/body/categoryId"],
    [{ name: "Rex", categoryId: 1, age: 3 }, "/body/age"],
    [{ name: "", categoryId: 1 }, "/body/name"],
    [{ name: "Rex", categoryId: 1, status: "lost" }, "/body/status"],
    [{ name: "Rex", categoryId: 1, price: { amount: -1 } }, "/body/price/amount"],
    [{ name: "Rex", categoryId: 1, metadata: { age: 3 } }, "/body/metadata/age"],
  ] as const;
  for (const [body, path] of wrong) {
    const error: unknown = await fake()
      .createPet(body as unknown as { name: string; categoryId: number })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid_request", details: [{ path }] });
    const real = await service.call("POST", "/pets", { key: await service.newKey(), body });
    expect(real.json.details[0].path).toBe(path);
  }
  for (const operation of operations) {
    for (const body of Object.values(operation.body?.examples ?? {})) {
      const { method, path } = operation;
      const sent = { method, headers: { authorization: "Bearer psk_test_1" }, body: exactJson(body) };
      const { status } = await fakeFetch()(baseUrl + path.replaceAll(/\{\w+\}/g, "1"), sent);
      expect([operation.name, status]).toEqual([operation.name, operation.response.status]);
    }
  }
});

test("warns of the end of getPet in its own responses only", async () => {
  expect((await tryIt("PATCH", "/pets/7", { updatePet: "pet_not_found" })).headers.get("sunset")).toBeNull();
  expect((await tryIt("GET", "/pets/7", {})).headers.get("sunset")).toContain("2030");
});

test("has the headers of the service", async () => {
  const key = await service.newKey();
  for (const { code } of errorsOf(operations[0] as (typeof operations)[number])) {
    const asked = { "Petstore-Simulate": code };
    const real = await service.call("GET", "/pets", { key, headers: asked });
    const pretended = await fakeFetch({ listPets: code as "rate_limit_exceeded" })(`${baseUrl}/pets`, { headers });
    const names = [...pretended.headers.keys()];
    const more = names.filter((name) => name !== "retry-after" && !real.headers.has(name));
    expect([code, pretended.status, more]).toEqual([code, real.status, []]);
    expect(pretended.headers.get("content-type")).toBe(real.headers.get("content-type"));
  }
});

test("gives the client what a test asks for", async () => {
  const petstore = fake({
    listPets: [{ id: 2n ** 62n, name: "Zoë", categoryId: 1n }],
    updatePet: "precondition_failed",
  });
  expect(await petstore.listPets().toArray({ max: 2 })).toEqual([{ id: 2n ** 62n, name: "Zoë", categoryId: 1n }]);
  const refusal = await petstore.updatePet(7, { name: "Max" }).catch((error: unknown) => error);
  expect(isErrorOf(refusal, "updatePet") && refusal.code).toBe("precondition_failed");
  expect((await petstore.createPet({ name: "Max", categoryId: 1 })).$response.status).toBe(201);
});

test("streams its events once, and stays open", async () => {
  const [first] = await fake().listEvents().page();
  const events = [1n, 2n].map((id) => Object.assign({}, first, { id }) as Event);
  const [all, later] = [fake({ streamEvents: events }).streamEvents(), fake({ streamEvents: events })];
  expect([(await all.next()).value?.id, (await all.next()).value?.id]).toEqual([1n, 2n]);
  const pending = all.next();
  await all.return?.(undefined as never);
  expect((await pending).done).toBe(true);
  for await (const { id } of later.streamEvents({ after: 1n })) {
    expect(id).toBe(2n);
    break;
  }
});

test("refuses what the service does not have, and calls without a key", async () => {
  expect(await fakeFetch()(`${baseUrl}/dogs`, { headers }).catch(String)).toContain("has no GET /v1/dogs");
  const wrong = { listPets: "no_such_error" } as unknown as FakeResponses;
  expect(await fakeFetch(wrong)(`${baseUrl}/pets`, { headers }).catch(String)).toContain("has no error no_such_error");
  expect((await fakeFetch()(`${baseUrl}/pets`)).status).toBe(401);
});
