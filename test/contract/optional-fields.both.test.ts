// Every optional field that an operation takes is stored: it is in the response, in the next read, in the list and in
// the event, it stays when another field is changed, `null` removes it, and files keep those of animals. A new field is
// tested without a change here.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { formats } from "../../src/domains/pets/files/formats.ts";
import { runJsonInProcess } from "../harness/commands.ts";
import { newDataDir } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { bodyOf } from "../harness/valid-call.ts";
import { secretKey } from "../harness/webhook-service.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

const settings = { PETSTORE_SECRET_KEY: secretKey };
let service: TestService;
let key: string;
let account: string;
beforeAll(async () => {
  service = await TestService.start({ settings });
});
beforeEach(async () => {
  const made = await service.newAccountWithKey("enterprise", undefined, scopes);
  [key, account] = [made.key, made.account.id];
});
afterAll(() => service.stop());

const call = async (method: string, path: string, body?: object) => {
  const { status, json } = await service.call(method, path, { key, body });
  expect([method, path, status, json?.message]).toEqual([method, path, method === "POST" ? 201 : 200, undefined]);
  return json;
};

/** What is sent for a field, if its schema has no example that is always valid. */
const values: Readonly<Record<string, () => unknown>> = {
  metadata: () => ({ shelf: "C-3" }),
  categoryId: () => 2,
  types: () => ["pet.created"],
  description: () => "The till.",
  expiresAt: () => new Date(service.clock.now() + 86_400_000).toISOString(),
};
/** Fields that a resource may have left out when it was added, but that no change removes. */
const lasting: ReadonlySet<string> = new Set([
  "updatePet status",
  "updateStoreOrder expiresAt",
  "updateWebhookEndpoint types",
  "updateWebhookEndpoint description",
]);
let made = 0;
/** What is sent for a field that is required, if it names something, or must be different each time. */
const required: Readonly<Record<string, () => Promise<unknown>>> = {
  petId: async () => (await call("POST", "/pets", { name: "Rex", categoryId: 1, status: "available" })).id,
  name: async () => `Name ${++made}`,
  url: async () => `https://example.org/${++made}`,
};

interface Fields {
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}
const fieldsOf = (schema: unknown) => schema as Fields;

const isNull = (schema: unknown) => (schema as { readonly type?: unknown }).type === "null";

function valueOf(name: string, schema: TSchema): unknown {
  const { examples, enum: choices } = schema as { examples?: readonly unknown[]; enum?: readonly unknown[] };
  const value = values[name]?.() ?? examples?.[0] ?? choices?.[0];
  if (value === undefined) throw new Error(`Give ${name} an example in its schema, or a value in this test.`);
  return JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? Number(one) : one)));
}

/** The names of the optional fields that the body and the resource have in common. */
function optionalFields({ body, response }: Operation): string[] {
  const { properties, required: needed = [] } = fieldsOf(body?.schema);
  const shown = fieldsOf(response.schema).properties;
  return Object.keys(properties).filter((name) => !needed.includes(name) && name in shown && !isNull(properties[name]));
}

/** Fields of the body, each with a value. */
async function given({ body }: Operation, names: readonly string[]): Promise<Record<string, unknown>> {
  const { properties } = fieldsOf(body?.schema);
  const fields = names.map(async (name) => [
    name,
    (await required[name]?.()) ?? valueOf(name, properties[name] as TSchema),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

/** The fields that are required, in a new body. */
async function requiredFields(operation: Operation): Promise<Record<string, unknown>> {
  const example = JSON.parse(bodyOf(operation) ?? "{}") as Record<string, unknown>;
  const { required: needed = [] } = fieldsOf(operation.body?.schema);
  const fields = needed.map(async (name) => [name, (await required[name]?.()) ?? example[name]] as const);
  return Object.fromEntries(await Promise.all(fields));
}

/** Expects the fields in an event of the operation. */
async function expectEvent({ emits = [] }: Operation, fields: object): Promise<void> {
  if (emits.length === 0) return;
  const events = (await call("GET", "/events?limit=100")) as { type: string; data?: object }[];
  const data = events.filter(({ type }) => (emits as readonly string[]).includes(type)).map((event) => event.data);
  expect(data).toContainEqual(expect.objectContaining(fields));
}

/** Operations that add a resource to a list, with the one that changes it, if there is one. */
const creating = operations
  .filter(({ method, body, response }) => method === "POST" && body && response.location)
  .map((create) => {
    const change = operations.find(
      ({ method, path }) => method === "PATCH" && path.replace(/\{.*\}/, "{id}") === create.response.location,
    );
    return { name: create.name, create, change };
  });

describe.each(creating)("$name", ({ create, change }) => {
  const list = create.path;

  /** Expects the fields of a resource wherever it is shown. */
  async function expectShown(resource: { readonly id: unknown }, fields: object): Promise<void> {
    expect(resource).toMatchObject(fields);
    expect(await call("GET", `${list}/${resource.id}`)).toMatchObject(fields);
    const listed = (await call("GET", list)) as { id: unknown }[];
    expect(listed.find(({ id }) => id === resource.id)).toMatchObject(fields);
  }

  test.each(optionalFields(create))("keeps %s", async (name) => {
    const field = await given(create, [name]);
    const created = await call("POST", list, { ...(await requiredFields(create)), ...field });
    await expectShown(created, field);
    await expectEvent(create, field);
  });

  if (!change) return;
  const names = optionalFields(change);

  test.each(names)("keeps %s of a change, also when another field is changed", async (name) => {
    const field = await given(change, [name]);
    const { id } = await call("POST", list, await requiredFields(create));
    const path = `${list}/${id}`;
    await expectShown(await call("PATCH", path, field), field);
    await expectEvent(change, field);
    const others = names.filter((one) => one !== name).slice(0, 1);
    await expectShown(await call("PATCH", path, await given(change, others)), field);
  });

  const leftOut = new Set(optionalFields(create));
  const removable = names.filter((name) => leftOut.has(name) && !lasting.has(`${change.name} ${name}`));
  test.each(removable)("removes %s by null, and keeps the others", async (name) => {
    const all = await given(create, optionalFields(create));
    const created = await call("POST", list, { ...(await requiredFields(create)), ...all });
    expect(created).toHaveProperty(name);
    const after = await call("PATCH", `${list}/${created.id}`, { [name]: null });
    const { [name]: _, ...others } = created;
    expect(after).toEqual(others);
    expect(await call("GET", `${list}/${created.id}`)).toEqual(others);
  });
});

test.each(formats)("an export to %s and its import into another store keep all of them", async (format) => {
  const create = operations.find(({ name }) => name === "createPet") as Operation;
  const names = optionalFields(create);
  for (const fields of [[], names])
    await call("POST", "/pets", { ...(await requiredFields(create)), ...(await given(create, fields)) });
  const folder = newDataDir();
  const file = join(folder, `animals.${format}`);
  const other = await TestService.start({ settings });
  try {
    const target = await other.newAccountWithKey("enterprise");
    await runJsonInProcess(folder, ["export", file, "--account", account], service.store.settings);
    const words = ["import", file, "--ids", "keep", "--account", target.account.id];
    await runJsonInProcess(folder, words, other.store.settings);
    const all = await call("GET", "/pets");
    expect(Object.keys(all[1])).toEqual(expect.arrayContaining(names));
    expect((await other.call("GET", "/pets", { key: target.key })).json).toEqual(all);
  } finally {
    await other.stop();
    rmSync(folder, { recursive: true });
  }
});

test("control: the fields of the shop's resources are among those tested", () => {
  const tested = creating.flatMap(({ name, create }) => optionalFields(create).map((one) => `${name} ${one}`));
  expect(tested).toEqual(
    expect.arrayContaining(["createPet reference", "placeStoreOrder metadata", "createCategory metadata"]),
  );
});
