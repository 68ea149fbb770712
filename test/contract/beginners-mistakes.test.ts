// Mistakes of people who use the service for the first time. Each response says what was sent, what is expected, and what
// to do. Rows about all operations are derived from the contract; those below it are written by hand.
/* oxlint-disable oxc/no-map-spread -- the rows are made once */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { derivePaths, pathParameters } from "../../src/contract/operation-properties.ts";
import { generateApiKey } from "../../src/domains/keys/api-key.ts";
import { TestService } from "../harness/service.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";
import { secretKey } from "../harness/webhook-service.ts";

interface Mistake {
  readonly what: string;
  readonly method?: string;
  /** Below the base address; with the key of `send`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly code: string;
  /** What was sent, what is expected, and what to do, as the message or the details say it. */
  readonly says: readonly string[];
}

interface Field {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Field;
}

const operations = domains.flatMap((domain) => domain.operations);
let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start({ settings: { PETSTORE_SECRET_KEY: secretKey } });
  ({ key } = await service.newAccountWithKey("enterprise", undefined, [...scopes]));
});
afterAll(() => service.stop());

async function send({ method = "GET", path, headers, body, code, says }: Mistake): Promise<void> {
  const response = await service.call(method, path, { key, headers: { ...headers }, body });
  service.clock.advance(60_000); // to the next window: a client without a key has 60 requests a minute
  const {
    code: given,
    message,
    details = [],
  } = response.json as {
    code: string;
    message: string;
    details?: { path: string; message: string }[];
  };
  const text = [message, ...details.map((fault) => `${fault.path} ${fault.message}`)].join("\n");
  expect([given, says.filter((part) => !text.includes(part)), text]).toEqual([code, [], text]);
}

function fieldsOf(schema: unknown): [string, Field][] {
  return Object.entries((schema as { properties?: Record<string, Field> } | undefined)?.properties ?? {});
}

/** A wrong value of a field, as text, and what is said about it; undefined if every text is right. */
function wrongValue({ type, format, enum: values, maximum, items }: Field): [string, string[]] | undefined {
  if (items) return wrongValue(items);
  if (values && values.length > 10) {
    return [`${values[1]}x`, [`must be one of ${values.length} values`, `did you mean ${values[1]}?`]];
  }
  if (values) return [`${values[0]}`.toUpperCase(), ["must be one of", ...values]];
  if (maximum !== undefined) return [`${maximum + 1}`, [`to ${maximum}`]];
  if (type === "integer") return ["abc", ["must be a 64-bit integer"]];
  return format === "date-time" ? ["yesterday", ["a date and time with an offset", "2026-11-21T12:00:00Z"]] : undefined;
}

const inQuery: Mistake[] = operations.flatMap((operation) =>
  fieldsOf(operation.query).flatMap(([name, field]) => {
    const { name: operationName, method } = operation;
    const call = { method, path: pathOf(operation), code: "invalid_request" };
    const body = bodyOf(operation);
    const wrong = wrongValue(field);
    return [
      {
        ...call,
        ...(body === undefined ? {} : { body }),
        what: `${operationName} with a misspelt parameter ${name}x`,
        path: `${call.path}?${name}x=1`,
        says: [`/query/${name}x`, "is not a query parameter of this operation", `did you mean ${name}?`],
      },
      ...(field.items ? ["[]=1&NAME[]=2", "[0]=1&NAME[1]=2"] : []).map((rest) => ({
        ...call,
        ...(body === undefined ? {} : { body }),
        what: `${operationName} with a list of ${name} as other libraries write it: ${rest}`,
        path: `${call.path}?${name}${rest.replace("NAME", name)}`,
        says: [`The request is invalid: /query/${name}[`, `did you mean ${name}? Write ${name}=1,2`],
      })),
      ...(wrong
        ? [
            {
              ...call,
              what: `${operationName} with the ${name} ${wrong[0]}`,
              path: `${call.path}?${name}=${wrong[0]}`,
              says: [`/query/${name}`, `got ${/^\d+$/.test(wrong[0]) ? wrong[0] : `"${wrong[0]}"`}`, ...wrong[1]],
            },
          ]
        : []),
    ];
  }),
);

const inBody: Mistake[] = operations.flatMap((operation) =>
  fieldsOf(operation.body?.schema).flatMap(([name, { type, format, enum: values, maxLength }]) => {
    const size = `it has ${(maxLength ?? 0) + 1}`;
    const isTime = format === "date-time";
    const valid = JSON.parse(bodyOf(operation) ?? "{}") as object;
    const call = { method: operation.method, path: pathOf(operation), code: "invalid_request" };
    const row = (value: unknown, sent: string, says: string[]) => ({
      ...call,
      what: `${operation.name} with ${JSON.stringify(value)?.slice(0, 30)} as its ${name}`,
      body: { ...valid, [name]: value },
      says: [`/body/${name}`, sent, ...says],
    });
    return [
      {
        ...call,
        what: `${operation.name} with a misspelt field ${name}x`,
        body: { ...valid, [`${name}x`]: 1 },
        says: [`/body/${name}x`, "is not a field of this operation", `did you mean ${name}?`],
      },
      row(type === "boolean" ? "yes" : true, type === "boolean" ? 'got "yes"' : "got true", ["must be "]),
      ...(values ? [row(values[0]?.toUpperCase(), "got", ["must be one of", `did you mean ${values[0]}?`])] : []),
      ...(maxLength
        ? [row("x".repeat(maxLength + 1), isTime ? "got" : size, [isTime ? "a date and time" : `at most ${maxLength}`])]
        : []),
      ...(type === "integer" ? [row("1", 'got "1"', ["integer", "write it without quotes"])] : []),
    ];
  }),
);

const paths = new Set<string>(operations.map(({ path }) => path));
const inPath: Mistake[] = derivePaths(operations).flatMap(({ methods, allow }) => {
  const [operation] = methods.values();
  const { path } = operation as Operation;
  const filled = pathOf(operation as Operation);
  const call = { code: "path_not_found" };
  const meant = `Did you mean /v1${path}?`;
  const wrong = [filled.replace(/\/[a-z]/, (start) => start.toUpperCase()), `${filled}/`, `/${filled}`];
  const singular = filled.replace(/s(?=\/|$)/, "");
  return [
    ...wrong.concat(singular === filled || paths.has(singular) ? [] : singular).map((sent) => ({
      ...call,
      what: `GET ${sent}`,
      path: sent,
      says: [`nothing at "/v1${sent}"`, meant],
    })),
    {
      what: `PUT ${path}`,
      method: "PUT",
      path: filled,
      code: "method_not_allowed",
      says: ["does not support PUT", `It supports ${allow}.`],
    },
  ];
});

const inIds: Mistake[] = operations
  .filter(({ method, params }) => method === "GET" && params)
  .map(({ name, path, params }) => {
    const [parameter = ""] = pathParameters(path).slice(-1);
    const field = fieldsOf(params?.schema).find(([one]) => one === parameter)?.[1];
    const list = path.slice(0, path.lastIndexOf("/{"));
    const isNumber = field?.type === "integer";
    return {
      what: `${name} with ${isNumber ? "a name" : "an asterisk"} instead of an id`,
      path: `${list.replaceAll(/\{[^}]*\}/g, "1")}/${isNumber ? "abc" : "*"}`,
      code: params?.invalidError.code ?? "",
      says: [
        parameter,
        ...(isNumber ? ["must be a 64-bit integer", 'got "abc"'] : ["must match"]),
        ...(operations.some((one) => one.method === "GET" && one.path === list) ? [`GET ${list} lists`] : []),
      ],
    };
  });

describe.each([
  ["the query", inQuery],
  ["the body", inBody],
  ["the path or the method", inPath],
  ["an id", inIds],
])("a mistake in %s", (_part, mistakes) => {
  test.each(mistakes.map((mistake) => [mistake.what, mistake] as const))("%s", (_what, mistake) => send(mistake));
});

const animal = { name: "Rex", categoryId: 1 };
const json = (body: string) => ({ method: "POST", path: "/pets", body, code: "invalid_request" });
const notJson = "/body is not valid JSON";

describe("a mistake of a beginner", () => {
  test.each<Mistake>([
    // Pages
    ...["page=2", "offset=20", "starting_after=7", "pageToken=x", "skip=20"].map((query) => ({
      what: `asks for the next page by ${query}`,
      path: `/pets?${query}`,
      code: "invalid_request",
      says: [`/query/${query.split("=")[0]}`, "is not a query parameter", "the Link header", 'rel="next"'],
    })),
    ...["per_page=50", "pageSize=50"].map((query) => ({
      what: `asks for the size of a page by ${query}`,
      path: `/pets?${query}`,
      code: "invalid_request",
      says: [`/query/${query.split("=")[0]}`, "is not a query parameter", "the size of a page is called limit"],
    })),
    // Names of other services
    ...[
      ["/pets?q=rex", "search"],
      ["/pets?order=desc", "sort"],
      ["/store/orders?from=2026-11-01", "since"],
      ["/store/orders?to=2026-11-01", "until"],
      ["/pets?filter[status]=sold", "status"],
    ].map(([path = "", meant = ""]) => ({
      what: `asks for ${path}`,
      path,
      code: "invalid_request",
      says: ["is not a query parameter of this operation", `did you mean ${meant}?`],
    })),
    ...[
      ["/pets?fields=id,name", "a response always has all fields"],
      ["/pets/7?expand[]=category", "a response always has all fields"],
      ["/pets?metadata.color=red", "nothing can be found by its metadata"],
      ["/pets?metadata[color]=red", "nothing can be found by its metadata"],
    ].map(([path = "", help = ""]) => ({
      what: `asks for ${path}`,
      path,
      code: "invalid_request",
      says: [`is not a query parameter of this operation; ${help}`],
    })),
    ...["/events", "/events/stream"].map((path) => ({
      what: `asks ${path} for what follows the newest event`,
      path: `${path}?after=latest`,
      code: "invalid_request",
      says: ['the id of an event; GET /events?sort=-id&limit=1 has the newest; got "latest"'],
    })),
    ...["[7]", "[7,8]"].map((ids) => ({
      what: `asks for the animals ${ids}`,
      path: `/pets?ids=${ids}`,
      code: "invalid_request",
      says: [`/query/ids/0 must be a 64-bit integer; got "${ids.split(",")[0]}"; write ids=1,2 or ids=1&ids=2`],
    })),
    {
      what: "misspells what is required",
      ...json('{"pet_id":1}'),
      path: "/store/orders",
      says: ["The request is invalid: /body/pet_id is not a field of this operation; did you mean petId?"],
    },
    {
      what: "adds a field that is not like any",
      ...json('{"name":"Rex","categoryId":1,"age":3}'),
      says: ["/body/age is not a field of this operation; it has name"],
    },
    {
      what: "sends a number as a text's value",
      ...json('{"name":"Rex","categoryId":1,"metadata":{"age":3}}'),
      says: ["/body/metadata/age must be a string; got 3, write it in double quotes"],
    },
    {
      what: "sends one value for a list",
      ...json('{"name":"x","scopes":"read"}'),
      path: "/keys",
      says: ['/body/scopes must be an array; got "read", write it in [ ], as a list'],
    },
    {
      what: "sends a text for true",
      ...json('{"petId":1,"confirm":"true"}'),
      path: "/store/orders",
      says: ['/body/confirm must be a boolean; got "true", write it without quotes'],
    },
    {
      what: "simulates the beginning of a code",
      path: "/pets",
      headers: { "Petstore-Simulate": "rate_limit" },
      code: "invalid_request",
      says: ["did you mean rate_limit_exceeded?"],
    },
    // Paths
    ...[
      ["/orders", "/v1/store/orders"],
      ["/orders/7", "/v1/store/orders/{orderId}"],
      ["/pet", "/v1/pets"],
      ["/pet/findByStatus?status=sold", "/v1/pets"],
      ["/pets/1/photos", "/v1/pets/{petId}"],
      ["/store", "/v1/store/orders"],
      ["/order", "/v1/store/orders"],
      ["/animals", "GET /v1/pets (List all animals)"],
      ["/animals/5", "/v1/pets/{petId}"],
      ["/webhooks", "GET /v1/webhook-endpoints (List webhook endpoints)"],
      ["/pets/5/sell", "POST /v1/store/orders (Place an order)"],
      ["/pets/5/history", "GET /v1/events?petId={petId}"],
      ["/store/orders/1/events", "GET /v1/events?orderId={orderId}"],
      ["/store/refunds", "POST /v1/store/orders/{orderId}/return (Return the animal of an order)"],
      ["/v1/pets", "/v1/pets"],
      ["/webhook-endpoint", "/v1/webhook-endpoints"],
    ].map(([path = "", meant = ""]) => ({
      what: `GET ${path}`,
      path,
      code: "path_not_found",
      says: [`nothing at "/v1${path.split("?")[0]}"`, `Did you mean ${meant}?`],
    })),
    {
      what: "looks for animals at a path of another pet store",
      path: "/pets/findByStatus?status=sold",
      code: "pet_not_found",
      says: ["/pets/{petId}", 'petId must be a 64-bit integer; got "findByStatus"', "GET /pets lists"],
    },
    {
      what: "deletes the list instead of an animal",
      method: "DELETE",
      path: "/pets",
      code: "method_not_allowed",
      says: ["does not support DELETE", "It supports GET, HEAD, POST, OPTIONS.", "DELETE works at /v1/pets/{petId}."],
    },
    {
      what: "asks the base address",
      path: "/",
      code: "path_not_found",
      says: ["This is the base address.", "such as GET /v1/pets (List all animals)", "/docs lists all"],
    },
    {
      what: "deletes an order",
      method: "DELETE",
      path: "/store/orders/1",
      code: "method_not_allowed",
      says: ["POST works at /v1/store/orders/{orderId}/confirm, /v1/store/orders/{orderId}/cancel and"],
    },
    {
      what: "replaces an animal",
      method: "PUT",
      path: "/pets/1",
      code: "method_not_allowed",
      says: ["does not support PUT", "PATCH changes the fields that you send."],
    },
    {
      what: "sets the state of an order",
      method: "PATCH",
      path: "/store/orders/1",
      body: { status: "confirmed" },
      code: "invalid_request",
      says: [
        "/body/status is not a field of this operation, only of its response; it has reference",
        "POST /store/orders/{orderId}/confirm, /store/orders/{orderId}/cancel and /store/orders/{orderId}/return change it",
      ],
    },
    {
      what: "chooses the id of an animal",
      ...json('{"id":5,"name":"Rex","categoryId":1}'),
      says: ["/body/id is not a field of this operation, only of its response; it has name"],
    },
    {
      what: "adds an animal at the path of another",
      method: "POST",
      path: "/pets/7",
      code: "method_not_allowed",
      says: ["does not support POST", "It supports GET, HEAD, PATCH, DELETE, OPTIONS.", "POST works at /v1/pets."],
    },
    {
      what: "reads an animal with a fraction as its id",
      path: "/pets/1.5",
      code: "pet_not_found",
      says: ['petId must be a 64-bit integer; got "1.5"', "GET /pets lists"],
    },
    {
      what: "reads an animal with an id beyond 64 bits",
      path: "/pets/9223372036854775808",
      code: "pet_not_found",
      says: ['petId must be a 64-bit integer; got "9223372036854775808"', "GET /pets lists"],
    },
    {
      what: "reads an animal of the live shop with a test key",
      path: "/pets/424242",
      code: "pet_not_found",
      says: ["No animal has the id 424242.", "The key is a test key: it sees the sandbox, not the live shop."],
    },
    // JSON
    {
      what: "sends single quotes",
      ...json("{'name': 'Rex'}"),
      says: [notJson, 'line 1, column 2 has "\'"', "double quotes"],
    },
    {
      what: "leaves a comma at the end",
      ...json('{\n  "name": "Rex",\n  "categoryId": 1,\n}'),
      says: [notJson, 'line 4, column 1 has "}"', "a name in double quotes is expected", "remove the comma before it"],
    },
    {
      what: "forgets a comma",
      ...json('{"name":"Rex" "categoryId":1}'),
      says: [notJson, "line 1, column 15", "a comma or } is expected"],
    },
    {
      what: "forgets the closing brace",
      ...json('{"name":"Rex"'),
      says: [notJson, "ends at line 1, column 14", "a comma or } is expected"],
    },
    {
      what: "forgets a closing quote",
      ...json('{"name":"Rex}'),
      says: [notJson, "begins at line 1, column 9", "has no closing quote"],
    },
    { what: "sends a line break in a text", ...json('{"name":"R\nex"}'), says: [notJson, "column 11", "as \\n"] },
    {
      what: "sends a Windows path",
      ...json('{"name":"C:\\pets"}'),
      says: [notJson, "invalid escape", "write \\ as \\\\"],
    },
    {
      what: "sends names without quotes",
      ...json("{name: 1}"),
      says: [notJson, 'column 2 has "n"', "names in double quotes"],
    },
    { what: "sends True of Python", ...json('{"name":True}'), says: [notJson, 'has "T"', "only true, false, null"] },
    { what: "sends a comment", ...json('{ // Rex\n"name":"Rex"}'), says: [notJson, 'has "/"', "JSON has no comments"] },
    { what: "sends XML", ...json("<pet/>"), says: [notJson, 'has "<"', "send JSON, not XML"] },
    { what: "sends an object as text", ...json("[object Object]"), says: [notJson, "as JSON.stringify does"] },
    { what: "sends a multipart form", ...json("------x\r\nContent-Disposition: form-data"), says: ["not a form"] },
    {
      what: "turns an object into JSON twice",
      ...json(JSON.stringify('{"name":"Rex"}')),
      says: ["/body must be an object", "JSON inside a text: turn it into JSON only once"],
    },
    { what: "sends a form as JSON", ...json("name=Rex&categoryId=1"), says: ["/body", "a form", "send JSON, such as"] },
    { what: "sends nothing", ...json(""), says: ["/body is missing", "send a JSON object"] },
    { what: "sends a list of animals", ...json("[]"), says: ["/body must be an object", "got an array"] },
    {
      what: "sends a number as text",
      ...json('{"name":"Rex","categoryId":"1"}'),
      says: ["/body/categoryId", 'got "1"', "must be a 64-bit integer", "write it without quotes"],
    },
    // Types
    {
      what: "lets curl send its default type",
      ...json("{}"),
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      code: "unsupported_media_type",
      says: ['"application/x-www-form-urlencoded"', "-H 'Content-Type: application/json'", "as application/json"],
    },
    {
      what: "adds a profile to the type",
      ...json("{}"),
      headers: { "Content-Type": "application/json; profile=x" },
      code: "unsupported_media_type",
      says: ['"profile=x"', "no parameter other than charset=utf-8", "as application/json"],
    },
    {
      what: "compresses the body",
      ...json("{}"),
      headers: { "Content-Encoding": "gzip" },
      code: "unsupported_media_type",
      says: ['got "gzip"', "without a content encoding"],
    },
    ...(["multipart/form-data; boundary=------------------------d74496d66958873e", "text/csv"] as const).map(
      (type) => ({
        what: `imports a file as ${type.split(";")[0]}`,
        method: "POST",
        path: "/pets/import",
        body: "name,categoryId",
        headers: { "Content-Type": type },
        code: "unsupported_media_type",
        says: [
          `The content type is "${type.split(";")[0]}"`,
          "the command `petstore import` and the console take files",
        ],
      }),
    ),
    {
      what: "imports a file as JSON",
      ...json("name,categoryId\nRex,1"),
      path: "/pets/import",
      says: [notJson, "the command `petstore import` and the console take files"],
    },
    {
      what: "sends a JSON Patch as JSON",
      method: "PATCH",
      path: "/pets/7",
      body: [{ op: "replace", path: "/name", value: "Rex" }],
      code: "invalid_request",
      says: ["got an array of changes (JSON Patch), send an object with the fields that change (JSON Merge Patch)"],
    },
    {
      what: "imports a list without its name",
      ...json('[{"name":"Rex","categoryId":1}]'),
      path: "/pets/import",
      says: ["/body must be an object; got an array, put it into animals"],
    },
    // Prices, currencies, zones and durations
    ...(
      [
        [12.9, 'must be an object: {"amount":1290,"currency":"EUR"} for 12.90 EUR; got 12.9'],
        ["12.90", 'must be an object: {"amount":1290,"currency":"EUR"} for 12.90 EUR; got "12.90"'],
        [
          { amount: 12.9, currency: "EUR" },
          "in the smallest unit of the currency, such as 1290 for 12.90 EUR; got 12.9",
        ],
        [{ amount: 1_290, currency: "\u20ac" }, 'a currency of ISO 4217, such as EUR; got "\u20ac"'],
        [{ amount: 1_290, currency: "eur" }, 'got "eur", did you mean EUR?'],
        [{ amount: 1_290, currency: "XYZ" }, 'a currency of ISO 4217, such as EUR; got "XYZ"'],
      ] as const
    ).map(([price, said]) => ({
      what: `writes ${JSON.stringify(price)} for a price`,
      ...json(JSON.stringify({ ...animal, price })),
      says: ["/body/price", said],
    })),
    ...["CET%2B1", "Berlin"].map((zone) => ({
      what: `asks for sales in the time zone ${zone}`,
      path: `/store/sales?timeZone=${zone}`,
      code: "invalid_request",
      says: ["such as Europe/Berlin", ...(zone === "Berlin" ? ["did you mean Europe/Berlin?"] : ['got "CET+1"'])],
    })),
    {
      what: "limits a key to 1d",
      ...json('{"name":"x","scopes":["read"],"expiresIn":"1d"}'),
      path: "/keys",
      says: ['/body/expiresIn must be an integer from 60 to 315360000: seconds, such as 86400 for a day; got "1d"'],
    },
    {
      what: "changes the filters between two pages",
      path: "/pets?status=sold&cursor=6.cc0pd6",
      code: "invalid_request",
      says: [
        "/query/cursor is not a cursor of this list; send it with the filters and the key of the page that gave it",
      ],
    },
    // Times
    {
      what: "sends a time as JavaScript prints it",
      path: `/store/orders?since=${encodeURIComponent("Sun Nov 29 2026 06:18:47 GMT+0000 (Coordinated Universal Time)")}`,
      code: "invalid_request",
      says: ["/query/since must be a date and time with an offset, such as 2026-11-21T12:00:00Z; got", "Sun Nov 29"],
    },
    {
      what: "forgets to write the plus of a time as %2B",
      path: "/store/orders?since=2026-11-21T14:00:00+02:00",
      code: "invalid_request",
      says: ["/query/since", 'got "2026-11-21T14:00:00 02:00"', "a date and time with an offset", "write + as %2B"],
    },
  ])("$what", send);

  test.each<[string, string | undefined, string, string]>([
    ["no key", undefined, "missing_api_key", "No API key was sent. Send the key in the header Authorization: Bearer"],
    ["Basic", "Basic KEY", "missing_api_key", "the scheme Basic, which is not supported. Send the key in the header"],
    ["no scheme", "KEY", "missing_api_key", "does not begin with Bearer and a space. Send the key in the header"],
    ["no key after Bearer", "Bearer ", "invalid_api_key", "No API key follows the word Bearer."],
    ["quotes", 'Bearer "KEY"', "invalid_api_key", "is in quotation marks. Send it without them."],
    ["angle brackets", "Bearer <KEY>", "invalid_api_key", "is in angle brackets. Send it without them."],
    ["the placeholder of the documentation", "Bearer <API_KEY>", "invalid_api_key", "A placeholder was sent"],
    ["a variable that no shell replaced", "Bearer $PETSTORE_KEY", "invalid_api_key", "A placeholder was sent"],
    ["a space inside", "Bearer KEY KEY", "invalid_api_key", "contains white space. Send it as one word."],
    ["two headers", "Bearer KEY, Bearer KEY", "invalid_api_key", "was sent twice. Send one key, once."],
    ["Bearer twice", "Bearer Bearer KEY", "invalid_api_key", "The word Bearer is sent twice. Send it once."],
    [
      "the placeholder of the README",
      "Bearer psk_test_\u00e2\u0080\u00a6",
      "invalid_api_key",
      "A placeholder was sent",
    ],
    ["a placeholder", "Bearer your-api-key", "invalid_api_key", "A placeholder was sent"],
    ["crosses", "Bearer psk_live_xxxxxxxx", "invalid_api_key", "A placeholder was sent"],
    ["nothing", "Bearer undefined", "invalid_api_key", "Check where it reads the key."],
    ["an object", "Bearer [object Object]", "invalid_api_key", "Check where it reads the key."],
    ["a link", "Bearer http://127.0.0.1/console#key=KEY", "invalid_api_key", "the key follows #key="],
    ["its name", "Bearer KEY=KEY", "invalid_api_key", "Send the value alone."],
    ["its id", "Bearer key_1a2B3c4D5e6F7g8H", "invalid_api_key", "The id of a key was sent instead of the key"],
    ["the id of an account", "Bearer acc_1a2B3c4D5e6F7g8H", "invalid_api_key", "`keys create --account` makes one"],
    ["a secret of a webhook", "Bearer whsec_MfKQ9r8GKYqrTwjU", "invalid_api_key", "A key for signatures of webhooks"],
    [
      "a key of another service",
      "Bearer sk_live_4eC39HqLyjWDarj",
      "invalid_api_key",
      "begin with psk_test_ or psk_live_",
    ],
    ["a live key", "Bearer psk_live_00SOMETHING", "invalid_api_key", "only production has live keys"],
    ["a letter less", "Bearer KE", "invalid_api_key", "has 46 characters instead of 47: a part is missing"],
    ["two letters exchanged", "Bearer EK", "invalid_api_key", "its last six characters do not fit the others"],
    ["a key that nobody has", "Bearer STRANGE", "invalid_api_key", "The API key is unknown here."],
  ])("sends its key with %s", async (_how, authorization, code, message) => {
    const sent = authorization
      ?.replaceAll("KEY", key)
      .replaceAll(/\bKE\b/g, key.slice(0, -1))
      .replaceAll(/\bEK\b/g, key.replace(/(?<=.{13})(.)((?!\1).)/, "$2$1")) // the first two that differ
      .replaceAll("STRANGE", generateApiKey("test"));
    const isPlaceholder = message.startsWith("A placeholder");
    const headers = isPlaceholder ? { Authorization: `${authorization}` } : sent ? { Authorization: sent } : {};
    const { json: body, text } = await service.call("GET", "/pets", { headers });
    service.clock.advance(60_000);
    expect([body.code, body.message]).toEqual([code, expect.stringContaining(message)]);
    expect(text).not.toContain(key.slice(-20));
  });

  test.each([
    ["X-API-Key", "/pets", "one in the header X-API-Key is not read. Send the key in the header"],
    ["", "/pets?api_key=KEY", "one in the address is not read. Send the key in the header"],
  ])("sends its key as %s %s", async (header, path, message) => {
    const headers: Record<string, string> = header ? { [header]: key } : {};
    const { json: body } = await service.call("GET", path.replace("KEY", key), { headers });
    expect([body.code, body.message]).toEqual(["missing_api_key", expect.stringContaining(message)]);
  });

  test.each([
    ["/pets", "/v1/pets"],
    ["/pets/7", "/v1/pets/{petId}"],
    ["/api/v1/pets", "/v1/pets"],
    ["/v2/pets", "/v1/pets"],
    ["/v1/openapi.json", "/openapi.json"],
    ["/swagger.json", "/openapi.json"],
    ["/login", "/console"],
  ])("sends GET %s outside the base address", async (path, meant) => {
    const response = await fetch(new URL(path, service.app.base), { headers: { Authorization: `Bearer ${key}` } });
    const { code, message } = (await response.json()) as { code: string; message: string };
    expect([code, message]).toEqual([
      "path_not_found",
      `There is nothing at "${path}". Did you mean ${meant}? /docs lists all operations.`,
    ]);
  });

  test("sends neither a body nor its type", async () => {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${service.app.base}/pets`, { method: "POST", headers });
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([415, "The request has no body; send one as application/json."]);
  });

  test.each(["/doc", "/swagger", "/api-docs", "/nothing"])("sends GET %s", async (path) => {
    const { message } = (await (await fetch(new URL(path, service.app.base))).json()) as { message: string };
    const help = path === "/nothing" ? "/docs lists all operations." : "Did you mean /docs?";
    expect(message).toBe(`There is nothing at "${path}". ${help}`);
  });

  test.each([
    [
      "without quotes",
      (tag: string) => tag.slice(1, -1),
      "invalid_request",
      "entity tags in double quotes, exactly as ETag has them, or *; got a tag without quotes",
    ],
    [
      "that is weak",
      (tag: string) => `W/${tag}`,
      "precondition_failed",
      "a weak entity tag (W/), which never matches. Send it without W/.",
    ],
    ["of another version", () => '"x"', "precondition_failed", "no longer matches If-Match"],
  ] as const)("sends an entity tag %s", async (_how, wrong, code, message) => {
    const added = await service.call("POST", "/pets", { key, body: animal });
    const tag = wrong(added.headers.get("etag") ?? "");
    const headers = { "If-Match": tag };
    const { json: body } = await service.call("PATCH", `/pets/${added.json.id}`, {
      key,
      headers,
      body: { name: "Tom" },
    });
    expect([body.code, body.message]).toEqual([code, expect.stringContaining(message)]);
    expect((await service.call("GET", `/pets/${added.json.id}`, { key })).json).toEqual(added.json);
  });
});

test("what was sent is shown shortened, without control characters, and not if it may be a key", async () => {
  const limit = async (value: string) =>
    (await service.call("GET", `/pets?limit=${encodeURIComponent(value)}`, { key })).json.details[0].message as string;
  expect(await limit("x y ".repeat(100))).toEndWith(`; got "${"x y ".repeat(10)}…"`);
  expect(await limit("a\u001b[31m\u202eb\u0085")).toEndWith('; got "a\\u001b[31m\\u202eb\\u0085"');
  expect(await limit(key)).toEndWith("; got a text that may be a key");
  expect(await limit(`my key is ${key}`)).toEndWith("; got a text that may be a key");
});
