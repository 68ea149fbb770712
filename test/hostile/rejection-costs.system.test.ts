// What a request costs that is refused. A client without any right to the service must not be able to keep it busy with
// a few requests, so the costs are bounded by that of a plain invalid body, however the request is made up.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { takesIdempotencyKey } from "../../src/contract/operation-properties.ts";
import { bodyLimits, DIGITS_LIMIT } from "../../src/contract/requests.ts";
import { cpuTimeOfThreads } from "../harness/cpu-time.ts";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { rounds } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";

/** How often the CPU time of a plain invalid body of 64 KiB, about 0.12 ms, a refused request may cost, and how many milliseconds. */
const MAX_RATIO = 8;
const MAX_MILLISECONDS = 3;
/** Requests that are measured together, because the first of them also pay for what is compiled. */
const BATCH = rounds(4, 8);
/** The least of several measurements counts: other processes and the collection of garbage only add to it. */
const MIN_ROUNDS = 3;
const MAX_ROUNDS = 30;
/** The largest body, and the largest query or header that the runtime accepts beside the others. */
const MOST = bodyLimits.bytes - 1_024;
const MOST_OF_HEADER = 14_000;

interface Costly {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** To receive and decode as many bytes costs some machines three times as much as a small body, and others six times. */
const plain: Costly = { what: "one long text", method: "POST", path: "/pets", body: `{"name":"${"x".repeat(MOST)}"}` };

const operations = domains
  .flatMap((domain) => domain.operations)
  .filter(({ separateQuota }) => separateQuota !== "sandbox"); // 20 requests a minute: the others are not read at all

let program: Program;
let key: string;
let requests = 0;
beforeAll(async () => {
  program = await Program.start(newDataDir(), { PETSTORE_ENV: "staging", PETSTORE_TRUSTED_PROXIES: "127.0.0.0/8" });
  ({ key } = await newKeyIn(program.dataDir, { quota: unlimitedQuota, scopes }));
  for (let round = 0; round < 30; round++) await costOf(plain); // until what is used often is compiled
});
afterAll(() => program.end());

/** The CPU time of one request, in milliseconds. */
async function costOf({ method, path, body, headers }: Costly): Promise<number> {
  const { pid } = program.child;
  const used = cpuTimeOfThreads(pid);
  for (let count = 0; count < BATCH; count++) {
    requests++;
    const address = `10.0.${(requests >> 8) & 255}.${requests & 255}`; // because 60 requests without a key are read a minute
    const response = await fetch(program.base + path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        "Content-Type": "application/json",
        "X-Forwarded-For": address,
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    await response.arrayBuffer();
    if (response.status < 400) throw new Error(`${method} ${path.slice(0, 80)} was not refused: ${response.status}`);
  }
  return used() / BATCH;
}

/**
 * Measures until the cost is within the bounds. The plain body is measured at the same time, because a processor that
 * others use is slower for both. An operation that reads larger bodies may cost more in proportion, and one that reads
 * more values more often what a text without them costs.
 */
async function expectCheap(request: Costly, { body }: Pick<Operation, "body"> = {}): Promise<void> {
  const { bytes, values: most } = body?.limits ?? bodyLimits;
  const mostMilliseconds = (MAX_MILLISECONDS * bytes) / bodyLimits.bytes;
  const mostRatio = MAX_RATIO * Math.max(bytes / bodyLimits.bytes, most / bodyLimits.values);
  let least = Number.POSITIVE_INFINITY;
  let leastOfPlain = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    least = Math.min(least, await costOf(request));
    leastOfPlain = Math.min(leastOfPlain, await costOf(plain));
    if (round + 1 >= MIN_ROUNDS && least <= Math.min(mostRatio * leastOfPlain, mostMilliseconds)) break;
  }
  expect(least).toBeLessThanOrEqual(mostMilliseconds);
  expect(least / leastOfPlain).toBeLessThanOrEqual(mostRatio);
}

/** As many different parts as fit into a text, with commas between them. */
function filled(part: (index: number) => string, most = MOST, count = Number.POSITIVE_INFINITY): string {
  const parts: string[] = [];
  for (let index = 0, length = 0; index < count; index++) {
    const next = part(index);
    length += next.length + 1;
    if (length > most) break;
    parts.push(next);
  }
  return parts.join(",");
}

/** Texts of JSON values that cost much to parse, to check, or to tell the faults of. `name` is that of a field. */
const values = (name: string): Readonly<Record<string, string>> => {
  const few = bodyLimits.values - 20;
  const width = Math.floor(MOST / few) - 12;
  return {
    "many pairs": `{${filled((index) => `"${index.toString(36)}":""`)}}`,
    "many pairs of other types": `{${filled((index) => `"${index.toString(36)}":1`)}}`,
    "as many pairs as are read": `{${filled((index) => `"${index}":"${"x".repeat(width)}"`, MOST, few)}}`,
    "as many long keys as are read": `{${filled((index) => `"${"k".repeat(width)}${index}":1`, MOST, few)}}`,
    "as many similar names as are read": `{${filled((index) => `"${name}${index}":1`, MOST, few)}}`,
    "many items": `[${filled(() => "1")}]`,
    "as many items as are read": `[${filled((index) => `"${name}${index}"`, MOST, few)}]`,
    "many objects": `[${filled((index) => `{"${index.toString(36)}":1}`)}]`,
    "many exponents": `[${filled(() => "1e300")}]`,
    "as many large integers as are read": `[${filled(() => `1${"0".repeat(width)}`, MOST, few)}]`,
    "as many numbers of as many digits as are read": `[${filled(() => "9".repeat(DIGITS_LIMIT), MOST, few)}]`,
    "thousands of digits": "9".repeat(MOST),
    "thousands of decimal places": `0.${"0".repeat(MOST - 10)}1`,
    "a long text": `"${"x".repeat(MOST)}"`,
    "a long text of surrogate pairs": `"${"🐕".repeat(MOST / 4)}"`,
    "a long text of escapes": `"${"\\u0000".repeat(MOST / 6)}"`,
    "a long text of backslashes": `"${"\\\\".repeat(MOST / 2)}"`,
    "a long text of quotes": `"${'\\"'.repeat(MOST / 2)}"`,
    "as many escapes as are read": `"${`\\n${"x".repeat(MOST / bodyLimits.escapes - 3)}`.repeat(bodyLimits.escapes - 100)}"`,
    "a long text of digits": `"${"123456789012345 ".repeat(MOST / 16)}"`,
    "many empty texts": '""'.repeat(MOST / 2),
    "a long text before a mistake": `["${"🐕".repeat(MOST / 4)}",'`,
    "a long text of half characters": `"${"\\ud800".repeat(MOST / 6)}"`,
    "a long text of combining characters": `"e${"\u0301".repeat(MOST / 2 - 1)}"`,
    "deep nesting": `${"[".repeat(MOST / 2)}1e5${"]".repeat(MOST / 2)}`,
    "as deep nesting as is read": `${'{"a":'.repeat(few)}1e5${"}".repeat(few)}`,
    "a text without an end": `"${"x\\n".repeat(MOST / 3)}`,
    "nothing but blanks": " ".repeat(MOST),
    "many lines before a mistake": `{${"\n".repeat(MOST)}'`,
  };
};

/** A schema without what does not matter for validation. */
function textOf(schema: unknown): string {
  return JSON.stringify(schema, (keyword, value: unknown) =>
    ["title", "description", "examples"].includes(keyword) ? undefined : value,
  );
}

/** The fields of all bodies, each schema once: the same one costs the same in every operation. */
const fields = new Map(
  operations.flatMap((operation: Operation) => {
    const { properties = {} } = (operation.body?.schema ?? {}) as { properties?: Record<string, object> };
    return Object.entries(properties).map(([name, schema]) => [textOf(schema), { operation, name }] as const);
  }),
);

describe.each([...fields.values()].map(({ operation, name }) => [operation.name, name, operation] as const))(
  "%s refuses cheaply as its %s",
  (_operation, name, operation) => {
    test.each(Object.entries(values(name)))("%s", async (what, value) => {
      const others = Object.entries(JSON.parse(bodyOf(operation) ?? "{}") as object).filter(([one]) => one !== name);
      const before = others.map(([one, valid]) => `${JSON.stringify(one)}:${JSON.stringify(valid)},`).join("");
      const body = `{${before}"${name}":${value},"${name}x":1}`;
      await expectCheap({ what, method: operation.method, path: pathOf(operation), body }, operation);
    });
  },
);

describe.each(operations.filter(({ body }) => body).map((operation) => [operation.name, operation] as const))(
  "%s refuses cheaply as its body",
  (_name, operation) => {
    const [name = ""] = Object.keys(JSON.parse(bodyOf(operation) ?? "{}") as object);
    test.each(Object.entries(values(name)))("%s", (what, body) =>
      expectCheap({ what, method: operation.method, path: pathOf(operation), body }, operation),
    );
  },
);

test("an import refuses as many faults as it can hold cheaply", async () => {
  const animal = `{"name":"","categoryId":"1","status":"gone","nmae":${"1".repeat(DIGITS_LIMIT)}}`;
  const body = `{"animals":[${Array(500).fill(animal).join(",")}]}`;
  const operation = operations.find(({ name }) => name === "importPets") as Operation;
  await expectCheap({ what: "faults", method: "POST", path: "/pets/import", body }, operation);
});

/** Texts of queries. `name` is that of a parameter. */
const queries = (name: string): Readonly<Record<string, string>> => {
  const joined = (part: (index: number) => string) => filled(part, MOST_OF_HEADER).replaceAll(",", "&");
  return {
    "many parameters": joined((index) => `${index.toString(36)}z`),
    "many similar names": joined((index) => `${name}${index}=1`),
    "many repetitions": joined(() => `${name}=1`),
    "a long value": `${name}=${"x".repeat(MOST_OF_HEADER)}`,
    "many items": `${name}=${filled(() => "1", MOST_OF_HEADER)}`,
    "many escapes": `${name}=${"%00".repeat(MOST_OF_HEADER / 3)}`,
    "many broken escapes": `${name}=${"%".repeat(MOST_OF_HEADER)}`,
    "many plus signs": `${name}=${"+".repeat(MOST_OF_HEADER)}`,
    "a long name": "y".repeat(MOST_OF_HEADER),
  };
};

describe.each(
  operations.flatMap((operation) => {
    const names = Object.keys(operation.query?.properties ?? {});
    const lists = names.filter((name) => "items" in (operation.query?.properties[name] ?? {}));
    return [...lists, ...names.slice(0, 1)].map((name) => [operation.name, name, operation] as const);
  }),
)("%s refuses cheaply as its query, with %s,", (_operation, name, operation) => {
  test.each(Object.entries(queries(name)))("%s", (what, query) => {
    const body = bodyOf(operation);
    return expectCheap({
      what,
      method: operation.method,
      path: `${pathOf(operation)}?${query}&zzz=1`,
      ...(body === undefined ? {} : { body }),
    });
  });
});

const change = operations.find((operation) => operation.ifMatch && takesIdempotencyKey(operation)) as Operation;

describe("headers that are refused cheaply", () => {
  test.each([
    ["If-Match", `"x" ${filled(() => 'W/"x"', MOST_OF_HEADER)}`],
    ["If-Match", `"x",${" ".repeat(MOST_OF_HEADER)}x`],
    ["If-Match", `${'"'.repeat(MOST_OF_HEADER)}x`],
    ["Idempotency-Key", `"${"\\\\".repeat(MOST_OF_HEADER / 2)}`],
    ["Petstore-Simulate", filled((index) => `pet_not_foun${index}`, MOST_OF_HEADER)],
    ["Petstore-Simulate", "x".repeat(MOST_OF_HEADER)],
    ["Content-Type", `application/json${"; charset=utf-8 ".repeat(MOST_OF_HEADER / 16)}`],
    ["Content-Encoding", "gzip,".repeat(MOST_OF_HEADER / 5)],
    ["Authorization", `Bearer ${"x".repeat(MOST_OF_HEADER)}`],
    ["Authorization", `Bearer ${"x ".repeat(MOST_OF_HEADER / 2)}`],
    ["Authorization", " ".repeat(MOST_OF_HEADER)],
    ["X-Forwarded-For", filled(() => "127.0.0.1", MOST_OF_HEADER)],
    ["traceparent", "0-".repeat(MOST_OF_HEADER / 2)],
  ])("%s: %.20s", (name, value) =>
    expectCheap({ what: name, method: change.method, path: pathOf(change), body: "{", headers: { [name]: value } }),
  );
});

describe("paths that are refused cheaply", () => {
  test.each([
    ["of many segments", "/pets".repeat(MOST_OF_HEADER / 5)],
    ["of as many segments as are compared", "/pet".repeat(5)],
    ["like several others", "/webhook-endpoint/1/deliverie/1"],
    ["of as many characters as are compared", `/${"webhook-endpoints".repeat(11)}`],
    ["with many escapes", `/${"%41".repeat(MOST_OF_HEADER / 3)}`],
    ["with a long id", `/pets/${"1".repeat(MOST_OF_HEADER)}`],
  ])("%s", (what, path) => expectCheap({ what, method: "GET", path }));

  test("without a key, of question marks", () =>
    expectCheap({
      what: "no key",
      method: "GET",
      path: `/pets?${"?".repeat(MOST_OF_HEADER)}`,
      headers: { Authorization: "" },
    }));
});
