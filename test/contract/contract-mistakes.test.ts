// What a developer is told who makes a mistake in an operation or its handler: by the compiler, or when the service starts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "typebox";
import { contractFaults } from "../../src/contract/check.ts";
import { defineError } from "../../src/contract/errors.ts";
import { bind, requireDeclared } from "../../src/contract/handler.ts";
import { defineOperation, noContent, type Operation } from "../../src/contract/operation.ts";
import { Int64 } from "../../src/contract/schemas.ts";

const root = join(import.meta.dir, "../..");

/** What each snippet starts with: an operation that reads, one that changes, and what a handler of theirs needs. */
const start = `
import { Type } from "typebox";
import { defineError, failure } from "${root}/src/contract/errors.ts";
import type { Handlers } from "${root}/src/contract/handler.ts";
import { defineEvent, defineOperation } from "${root}/src/contract/operation.ts";
import { Int64 } from "${root}/src/contract/schemas.ts";
import { lockShop } from "${root}/src/domains/shops/shops.store.ts";
import { deleteOldDeliveries } from "${root}/src/domains/webhooks/deliveries/deliveries.store.ts";
import { together } from "${root}/src/storage/combined-steps.ts";
import { change, query } from "${root}/src/storage/statement.ts";
import { step } from "${root}/src/storage/step.ts";
import type { OpenStorage } from "${root}/src/storage/storage.ts";
import { inColumn, rowMapping } from "${root}/src/storage/row-mapping.ts";
import { readPage } from "${root}/src/storage/pages.ts";
import { insertInto, integer, type RowOf, table, text } from "${root}/src/storage/table.ts";
import { afterCommit, all, append, type Query, waitFor } from "${root}/src/storage/transaction.ts";
export const toyNotFound = defineError({ code: "toy_not_found", status: 404, meaning: "No toy has this id." });
export const toyBroken = defineError({ code: "toy_broken", status: 409, meaning: "The toy is broken." });
const common = {
  name: "getToy",
  method: "GET",
  path: "/toys/{toyId}",
  tag: { name: "toys", description: "What animals play with.", stability: "stable" },
  summary: "Get a toy",
  description: "Returns a toy.",
  testPanel: true,
  scopes: ["read"],
  params: { schema: Type.Object({ toyId: Int64({ description: "Which toy." }) }), invalidError: toyNotFound },
  response: { status: 200, description: "It.", schema: Type.Object({ id: Int64({ description: "Its id." }) }), examples: {} },
  errors: [toyNotFound],
} as const;
export const reads = [defineOperation(common)] as const;
export const changes = [defineOperation({ ...common, name: "mendToy", method: "POST", emits: [] })] as const;
export const toys = table("toys", { id: integer, name: text }, { key: ["id"] });
export type Toy = RowOf<typeof toys>;
export { afterCommit, all, defineEvent, deleteOldDeliveries, append, inColumn, insertInto, lockShop, readPage, type Query, rowMapping, step, together, waitFor };
export declare const storage: OpenStorage;
export const count = () => all(query("SELECT count(*) FROM toys"));
export const mend = () => all(change<[name: string]>("UPDATE toys SET name = $1"), "whole");
export const say = () => failure(toyNotFound, "There is none.");
export type Reads = Handlers<typeof reads>;
export type Changes = Handlers<typeof changes>;
`;

/** Snippets, and the last line of what the compiler says of them. Types that are longer than a line are cut. */
const compilerMessages: Readonly<Record<string, readonly [code: string, message: string]>> = {
  "nothing wrong with a read": [`const one: Reads = { *getToy() { return say(); } };`, ""],
  "nothing wrong with a change": [`const one: Changes = { *mendToy() { yield* mend(); return say(); } };`, ""],
  "a misspelled key": [
    `const one = defineOperation({ ...common, seperateQuota: "plan" });`,
    `Type 'string' is not assignable to type 'MisspelledKeyOf<"operation">'.`,
  ],
  "a misspelled key of a part": [
    `const one = defineOperation({ ...common, response: { ...common.response, secrete: true } });`,
    `Type 'boolean' is not assignable to type 'MisspelledKeyOf<"response">'.`,
  ],
  "a misspelled key of a tool": [
    `const agentTools = { get_toy: { does: "reads", takes: [], gives: "toy", text: "", fixd: {} } } as const; export const one = defineOperation({ ...common, agentTools });`,
    `Property '[refused]' is missing in type '{}' but required in type 'MisspelledKeyOf<"tool">'.`,
  ],
  "a misspelled key of an event": [
    `const one = defineEvent({ type: "toy.mended", meaning: "It was mended.", scop: "admin" });`,
    `Type 'string' is not assignable to type 'MisspelledKeyOf<"event">'.`,
  ],
  "a misspelled key of an error": [
    `const one = defineError({ ...toyBroken, retryAfer: 5 });`,
    `Type 'number' is not assignable to type 'MisspelledKeyOf<"error">'.`,
  ],
  "a key that is missing": [
    `const { summary, ...rest } = common; export const one = defineOperation(rest);`,
    "Property 'summary' is missing in type '…' but required in type 'Omit<Operation, Defaulted>'.",
  ],
  "a GET that takes a body": [
    `const one = defineOperation({ ...common, body: { schema: common.response.schema, examples: {} } });`,
    `Property '[refused]' is missing in type '{ schema: Type.TObject<{ id: Type.TUnsafe<bigint>; }>; examples: {}; }' but required in type 'NotPossibleFor<"GET">'.`,
  ],
  "a GET that adds events": [
    `const one = defineOperation({ ...common, emits: [] });`,
    `Property '[refused]' is missing in type '[]' but required in type 'NotPossibleFor<"GET">'.`,
  ],
  "a GET that creates": [
    `const one = defineOperation({ ...common, response: { ...common.response, status: 201 } });`,
    "Type 'number' is not assignable to type 'never'.",
  ],
  "a change that does not say what events it adds": [
    `const one = defineOperation({ ...common, method: "POST" });`,
    "Property 'emits' is missing in type '…' but required in type '…'.",
  ],
  "a change that is a stream": [
    `const stream = { id: "id", event: "id" }; export const one = defineOperation({ ...common, method: "POST", emits: [], response: { ...common.response, stream } });`,
    `Property '[refused]' is missing in type '{ id: string; event: string; }' but required in type 'NotPossibleFor<"POST">'.`,
  ],
  "a column that the table does not have": [
    `const one = insertInto(toys, ["id", "nam"]);`,
    `Type '"nam"' is not assignable to type '"id" | "name"'.`,
  ],
  "an insert without a column that has no other value": [
    `const one = insertInto(toys, ["id"]);`,
    `Property 'lacks' is missing in type '["id"]' but required in type '{ readonly lacks: "name"; }'.`,
  ],
  "a misspelled key of a column": [
    `const one = table("balls", { id: integer, size: { ...text, chek: "size <> ''" } }, { key: ["id"] });`,
    `Type 'string' is not assignable to type 'MisspelledKeyOf<"column">'.`,
  ],
  "a key of a column that the table does not have": [
    `const one = table("balls", { id: integer }, { key: ["idd"] });`,
    `Type '"idd"' is not assignable to type '"id"'.`,
  ],
  "a value that does not fit its column": [
    `const one = all(insertInto(toys, ["id", "name"]), 1n, null);`,
    "Type 'null' is not assignable to type 'string'.",
  ],
  "a field in a column that the table does not have": [
    `const one = rowMapping<{ name: string }, Toy, Pick<Toy, "name">>()("toys", { name: inColumn("nam") });`,
    `Type 'Writes<string, Pick<Readonly<Record<"nam", string>>, "nam">>' has no properties in common with type`,
  ],
  "a column that no field writes": [
    `const one = rowMapping<{ name: string }, Toy, Toy>()("toys", { name: inColumn("name") });`,
    `Property 'lacks' is missing in type '{ name: FieldInColumn<string, "name", string>; }' but required in type '{ readonly lacks: "id"; }'.`,
  ],
  "a field whose column takes other values": [
    `const one = rowMapping<{ name?: string }, Toy, Pick<Toy, "name">>()("toys", { name: { write: { name: (name) => name ?? null }, read: (row) => row.name } });`,
    "Type 'null' is not assignable to type 'string'.",
  ],
  "a page that shows a column which it does not read": [
    `const one = () => readPage({ table: toys, columns: [], shop: 1 as never, after: 1n, limit: 1 }, (row) => row.name);`,
    "Property 'name' does not exist on type 'PageRow<…",
  ],
  "a number that is not of a shop": [
    `const one = (now: number) => lockShop(now, now);`,
    "Type 'number' is not assignable to type '{ readonly [isShopNumber]: true; }'.",
  ],
  "a deletion by the wall clock, which can be set far ahead": [
    `const one = () => deleteOldDeliveries(storage, Date.now());`,
    "Type 'number' is not assignable to type '{ readonly [isExpiryTime]: true; }'.",
  ],
  "a scope that does not exist": [
    `const one = defineOperation({ ...common, scopes: ["fly"] });`,
    `Type '"fly"' is not assignable to type '"admin" | "read" | "write"'.`,
  ],
  "a status of no success": [
    `const one = defineOperation({ ...common, response: { ...common.response, status: 202 } });`,
    "Type '202' is not assignable to type '200 | 201 | 204'.",
  ],
  "a path without a slash": [
    `const one = defineOperation({ ...common, path: "toys" });`,
    "Type '\"toys\"' is not assignable to type '`/${string}`'.",
  ],
  "a code in place of an error": [
    `const one = defineOperation({ ...common, errors: ["toy_not_found"] });`,
    "Type 'string' is not assignable to type 'ErrorDefinition'.",
  ],
  "a handler that is missing": [
    `const one: Reads = {};`,
    "Property 'getToy' is missing in type '{}' but required in type 'Reads'.",
  ],
  "a handler of no operation": [
    `const one: Reads = { *getToy() { return say(); }, *getBall() { return say(); } };`,
    "Object literal may only specify known properties, and 'getBall' does not exist in type 'Reads'.",
  ],
  "a handler that is no generator": [
    `const one: Reads = { getToy: () => ({ body: { id: 1n } }) };`,
    "Type '{ body: { id: bigint; }; }' is missing the following properties from type 'Generator<…'",
  ],
  "a handler that is asynchronous": [
    `const one: Changes = { mendToy: async () => ({ body: { id: 1n } }) };`,
    "Type 'Promise<{ body: { id: bigint; }; }>' is missing the following properties from type 'Generator<…'",
  ],
  "nothing wrong with several queries at once": [
    `const one: Reads = { *getToy() { yield* together([count(), count()]); yield* waitFor(storage.check()); return say(); } };`,
    "",
  ],
  "a GET that changes": [
    `const one: Reads = { *getToy() { yield* mend(); return say(); } };`,
    `Type '"change"' is not assignable to type '"query" | "wait"'.`,
  ],
  "a GET that changes beside a query": [
    `const one: Reads = { *getToy() { yield* together([count(), mend()]); return say(); } };`,
    `Type '"change"' is not assignable to type '"query" | "wait"'.`,
  ],
  "a GET that appends": [
    `const one: Reads = { *getToy() { yield* append({} as never, {} as never); return say(); } };`,
    `Type '"change"' is not assignable to type '"query" | "wait"'.`,
  ],
  "a GET with an effect": [
    `const one: Reads = { *getToy() { yield* afterCommit(() => {}); return say(); } };`,
    `Type '"change"' is not assignable to type '"query" | "wait"'.`,
  ],
  "a read that changes": [
    `const one = () => storage.read(mend());`,
    `Type '"change"' is not assignable to type '"query" | "wait"'.`,
  ],
  "a stream of a change": [
    `const one = () => storage.stream(change("DELETE FROM toys"));`,
    `Type '"change"' is not assignable to type '"query"'.`,
  ],
  "a change that waits, while it holds locks": [
    `const one: Changes = { *mendToy() { yield* waitFor(storage.check()); return say(); } };`,
    `Type '"wait"' is not assignable to type '"change" | "query"'.`,
  ],
  "a pause in the store that is typed as a query": [
    `function* one(): Query<void> { yield step({ pauses: true }); }`,
    `Type '"wait"' is not assignable to type '"query"'.`,
  ],
  "a value that is yielded": [
    `const one: Changes = { *mendToy() { yield 42; return say(); } };`,
    `Type 'number' is not assignable to type 'Step<"change" | "query">'.`,
  ],
  "a value that looks like a step": [
    `const one: Changes = { *mendToy() { yield { statement: change("DELETE FROM toys"), parameters: [] }; return say(); } };`,
    `Property '[yieldStarIsNeeded]' is missing in type`,
  ],
  "a promise that is yielded": [
    `const one: Changes = { *mendToy() { yield Promise.resolve(); return say(); } };`,
    `Property '[yieldStarIsNeeded]' is missing in type 'Promise<void>' but required in type 'Step<"change" | "query">'.`,
  ],
  "yield in place of yield*": [
    `const one: Changes = { *mendToy() { yield mend(); return say(); } };`,
    `Property '[yieldStarIsNeeded]' is missing in type 'Generator<Step<"change">, readonly Row[], unknown>' but required in type 'Step<"change" | "query">'.`,
  ],
  "an error that the operation does not declare": [
    `const one: Reads = { *getToy() { return failure(toyBroken, "It fell."); } };`,
    `Type '"toy_broken"' is not assignable to type '"toy_not_found"'.`,
  ],
  "a response that does not fit its schema": [
    `const one: Reads = { *getToy() { return { body: { id: 1 } }; } };`,
    "Type 'number' is not assignable to type 'bigint'.",
  ],
  "a parameter that the path does not have": [
    `const one: Reads = { *getToy({ params }) { return { body: { id: params.id } }; } };`,
    "Property 'id' does not exist on type '{ toyId: bigint; }'.",
  ],
};

describe("the compiler reports", () => {
  const names = Object.keys(compilerMessages);
  const folder = mkdtempSync(join(tmpdir(), "petstore-mistakes-"));
  let said = "";
  beforeAll(() => {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const settings = { extends: join(root, "tsconfig.json"), include: [join(folder, "*.ts")], exclude: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
    for (const [index, name] of names.entries()) {
      writeFileSync(join(folder, `snippet${index}.ts`), `${start}\nexport ${compilerMessages[name]?.[0]}\n`);
    }
    const tsc = [join(root, "node_modules/.bin/tsc"), "-p", folder, "--pretty", "false"];
    said = Bun.spawnSync(tsc, { cwd: folder }).stdout.toString();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(names)("%s", (name) => {
    const own = said.split(/^(?=\S)/m).filter((text) => text.startsWith(`snippet${names.indexOf(name)}.ts`));
    const message = compilerMessages[name]?.[1] ?? "";
    expect(own).toHaveLength(message === "" ? 0 : 1);
    const last = own[0]?.trimEnd().split("\n").at(-1) ?? "";
    const cut = last.replace(/^.*?: error TS[0-9]+: /, "").trim();
    expect(cut.replaceAll(/'(\w*<)?[^']{80,}'/g, "'$1…'")).toStartWith(message);
  });
});

const toyNotFound = defineError({ code: "toy_not_found", status: 404, meaning: "No toy has this identifier." });
const toyBroken = defineError({ code: "toy_broken", status: 409, meaning: "The toy is broken." });
const toyId = Int64({ description: "Which toy." });
const getToy = defineOperation({
  name: "getToy",
  method: "GET",
  path: "/toys/{toyId}",
  tag: { name: "toys", description: "What animals play with.", stability: "stable" },
  summary: "Get a toy",
  description: "Returns a toy.",
  testPanel: true,
  scopes: ["read"],
  params: { schema: Type.Object({ toyId }), invalidError: toyNotFound },
  response: { status: 200, description: "The toy.", schema: Type.Object({ id: toyId }), examples: { One: { id: 1n } } },
  errors: [toyNotFound],
});
const deprecation = { since: "2026-11-21", removal: "2030-12-05", replacement: "getToys", advice: "Get all." };

/** A second operation, which differs from the first, and what is said of the two at the start. */
const startupMessages: Readonly<Record<string, readonly [change: object, message: string]>> = {
  "an operation's name is taken": [{ name: "getToy" }, "getToy: two operations have this name; rename one."],
  "a path is taken": [
    { path: "/toys/{toyId}" },
    "GET /toys/{}: getToy and findToy have this method and path; change one.",
  ],
  "a path parameter has another name in an operation of the same path": [
    {
      method: "DELETE",
      path: "/toys/{id}",
      params: { schema: Type.Object({ id: toyId }), invalidError: toyNotFound },
      emits: [],
      response: noContent("It is deleted."),
    },
    "/toys/{toyId} and /toys/{id} differ only in the names of their parameters; use the same names.",
  ],
  "a path parameter has no schema": [
    { params: undefined },
    "findToy: the path parameter toyId has no schema; add it to params.schema.",
  ],
  "a schema is of no path parameter": [
    { path: "/found" },
    "findToy: the path has no parameter toyId; add {toyId} to it, or remove toyId from params.schema.",
  ],
  "an example does not fit its schema": [
    { response: { ...getToy.response, examples: { One: { id: "1" } } } },
    'findToy: the response example "One" does not fit its schema: /id must be a 64-bit integer; got "1", write it without quotes.',
  ],
  "an example is missing": [
    { response: { ...getToy.response, examples: {} } },
    "findToy: the response has no example; add one to response.examples.",
  ],
  "pages have no parameters": [
    {
      paged: { position: toyId },
      response: { ...getToy.response, schema: Type.Array(toyId), examples: { One: [1n] } },
    },
    "findToy: a paged operation needs the query parameter limit; spread pageParameters into query.",
  ],
  "a replacement does not exist": [
    { deprecation },
    "findToy: the replacement getToys is not an operation. Did you mean getToy?",
  ],
  "an error code is defined twice": [
    { errors: [toyNotFound, defineError({ ...toyNotFound })] },
    "toy_not_found: two errors have this code; define it once and import it, or rename one.",
  ],
  "an error code has another form": [
    { errors: [toyNotFound, defineError({ ...toyBroken, code: "ToyBroken" })] },
    "ToyBroken: an error code is written in snake_case, like pet_not_found.",
  ],
  "a change shows what a GET shows": [
    { method: "PUT", path: "/toys/{toyId}", emits: [] },
    "findToy: it returns what a GET shows; set response.entityTag to true.",
  ],
};

describe("the start reports that", () => {
  test.each(Object.entries(startupMessages))("%s", (_name, [change, message]) => {
    const second = { ...getToy, name: "findToy", path: "/found/{toyId}", ...change } as Operation;
    expect(contractFaults([getToy, second])[0]).toBe(message);
  });

  test("an operation has no handler", () => {
    expect(() => bind([getToy], {} as never)).toThrow(
      "The operation getToy has no handler; add getToy to the handlers.",
    );
  });
});

test("an undeclared error that the compiler missed is reported in the log", () => {
  expect(() => requireDeclared({ error: toyBroken, message: "It fell." }, getToy)).toThrow(
    "getToy gave toy_broken, which it does not declare; add it to the errors of the operation.",
  );
});
