import type { Answer, Fault, Passed } from "./faulty-proxy.ts";

type Which = (request: Passed, answer: Answer) => boolean;

/** Changes some responses. */
function spoil(which: Which, change: (answer: Answer, request: Passed) => unknown): Fault {
  return { response: (answer, request) => which(request, answer) && change(answer, request) };
}

/** Replaces a text in some bodies. */
function rewrite(which: Which, from: RegExp, by: string): Fault {
  return spoil(which, (answer) => (answer.body = Buffer.from(answer.body.toString().replaceAll(from, by))));
}

/** Sets headers of some responses; undefined removes one. */
const set = (which: Which, headers: Answer["headers"]) =>
  spoil(which, (answer) => Object.assign(answer.headers, headers));

/** Gives some requests another answer of the service. */
function instead(which: Which, status: number, body: object): Fault {
  return spoil(which, (answer) => Object.assign(answer, { status, body: Buffer.from(JSON.stringify(body)) }));
}

/** Changes some requests. */
const pass = (which: (request: Passed) => boolean, change: (request: Passed) => unknown): Fault => ({
  request: (request) => {
    if (which(request)) change(request);
    return undefined;
  },
});

const to = (method: string, path: RegExp) => (request: Passed) => request.method === method && path.test(request.path);
const adds = to("POST", /\/pets$/);
const lists = to("GET", /\/pets$/);
const reads = to("GET", /\/pets\/\d+$/);
const withBody = (text: string | RegExp) => (request: Passed) => adds(request) && request.body.search(text) >= 0;
const page = Buffer.from("<h1>An error</h1>");
const refuse = (which: (request: Passed) => boolean, own: Partial<Answer>): Fault => ({
  request: (request) => (which(request) ? own : undefined),
});
const always = () => true;
const rex = { id: 1, name: "Rex", categoryId: 1 };
const error = (code: string, status: number) => ({ code, message: "Faulty.", status });

/** Leaves out the third item of a list. */
function shortened(came: Answer): void {
  came.body = Buffer.from(JSON.stringify((JSON.parse(came.body.toString()) as unknown[]).toSpliced(2, 1)));
}

/** Gives a request the key, if it has another. */
function accept({ headers }: Passed, key: string): void {
  if (headers["authorization"]) headers["authorization"] = `Bearer ${key}`;
}

/** Counts the responses of a kind. */
function nth(number: number, which: Which): Which {
  let seen = 0;
  return (request, response) => which(request, response) && ++seen === number;
}
const limited: Which = (_request, { status }) => status === 429;

/** What makes exactly one check fail, by its level and name; a second one adds what it breaks. `key` is that of the run. */
export const faults: Readonly<Record<string, (key: string) => Fault>> = {
  "core list": () => instead(to("GET", /\?limit=5$/), 200, []),
  "core create": () => rewrite(adds, /"status":"pending"/g, '"status":"sold"'),
  "core texts": () => rewrite(adds, /Zoë/g, "Zo?"),
  "core digits": () => rewrite(adds, /9007199254740993/g, "9007199254740992"),
  "core get": () => rewrite(reads, /"id":\d+/g, '"id":7777'),
  "core unknown-animal": () => instead((request, { status }) => reads(request) && status === 404, 200, rex),
  "core sunset": () => set(reads, { sunset: "Fri, 06 Dec 2030 00:00:00 GMT" }),
  "core limit": () => pass(to("GET", /\?limit=2$/), (request) => (request.path = request.path.replace("=2", "=3"))),
  "core default-limit": () => pass(lists, (request) => (request.path += "?limit=19")),
  "core bounds": () => instead(to("GET", /\?limit=101$/), 500, error("internal_error", 500)),
  "core bounds: an empty page": () => instead(to("GET", /\?limit=101$/), 200, []),
  "core status-filter": () =>
    pass(to("GET", /status=sold/), (request) => (request.path = request.path.replace("status=sold", ""))),
  "core missing-fields": () => instead(withBody(/^(?!.*"categoryId")/), 201, rex),
  "core invalid-values": () => instead(withBody('"status":1'), 201, rex),
  "core invalid-values: an unknown status": () => instead(withBody("none of them"), 201, rex),
  "core no-key": () => instead((request) => adds(request) && !request.headers["authorization"], 201, rex),
  "core wrong-key": (key) => pass(lists, (request) => accept(request, key)),
  "core errors": () =>
    spoil(
      (request, { status }) => reads(request) && status === 404,
      (answer) => (answer.body = Buffer.from("<h1>404</h1>")),
    ),
  "core json": () => set(withBody("Zoë"), { "content-type": "text/html" }),
  "core limit-headers": () => set((_request, { status }) => status === 404, { "x-ratelimit-reset": undefined }),
  "core retry-after": () => instead(nth(1, to("GET", /\?limit=2$/)), 429, error("rate_limit_exceeded", 429)),

  "service cursors": () =>
    spoil(
      to("GET", /ids=\d+,/),
      ({ headers }) => (headers["link"] = String(headers["link"]).replace(/&cursor=[^>]*/, "")),
    ),
  "service entity-tags": () =>
    pass(
      ({ headers }) => headers["accept-encoding"] === undefined,
      ({ headers }) => (headers["if-none-match"] = undefined),
    ),
  "service idempotency": () => pass(adds, ({ headers }) => (headers["idempotency-key"] = undefined)),
  "service events": () => spoil(to("GET", /\/events\?sort/), shortened),
  "service stream": () => ({
    stream: (text, { path }) => (path.includes("after=") ? text.replace("data: ", ": ") : text),
  }),
  "service stream: another id": () => ({
    stream: (text, { path }) => (path.includes("after=") ? text.replaceAll(/^id: /gm, "id: 1") : text),
  }),
  "service stream: twice": () => ({
    stream: (text, { path }) => (path.includes("after=") && text.includes("data:") ? text + text : text),
  }),
  "service resumption": () => pass(always, ({ headers }) => (headers["last-event-id"] = undefined)),
  "service cors": () =>
    set(({ method, headers }) => method === "GET" && !!headers["origin"], { "access-control-allow-origin": undefined }),
  "service preflight": () => set(({ method }) => method === "OPTIONS", { "access-control-allow-headers": undefined }),
  "service head": () => set(({ method }) => method === "HEAD", { etag: undefined }),
  "service deprecation": () => set(reads, { deprecation: undefined }),
  "service operations": () => instead(to("GET", /\/store\/orders/), 503, error("overloaded", 503)),
  "service codes": () => rewrite(reads, /pet_not_found/g, "no_such_pet"),
  "service request-ids": () => set(to("GET", /\/pets\?/), { "x-request-id": "1" }),
  "service tools": () => rewrite(to("POST", /\/mcp$/), /"find_animals"/g, '"search_animals"'),
  "service document": () => rewrite(to("GET", /\/shop$/), /"timeZone":"[^"]*"/g, '"timeZone":1'),

  "deployment addresses": () => set(adds, { location: "http://127.0.0.1:8080/v1/pets/1" }),
  "deployment keep-alive": () => set(({ headers }) => headers["connection"] === "keep-alive", { connection: "close" }),
  "deployment chunked": () => refuse(({ headers }) => headers["transfer-encoding"] !== undefined, { status: 411 }),
  "deployment slow-upload": () => refuse(({ took }) => took > 1_500, { status: 408 }),
  "deployment body": () => refuse(({ body }) => body.length === 65_536, { status: 413 }),
  "deployment import": () => refuse(({ body }) => body.length === 524_288, { status: 413 }),
  "deployment import: cut": () =>
    pass(
      ({ body }) => body.length === 524_288,
      (request) => (request.body = request.body.slice(0, 102_400)),
    ),
  "deployment too-large": () => refuse(({ body }) => body.length > 1_000_000, { status: 413, body: page }),
  "deployment long-query": () => refuse(({ path }) => path.length > 8_000, { status: 414, body: page }),
  "deployment escapes": () => pass(always, (request) => (request.path = request.path.replaceAll("%2B", "+"))),
  "deployment escapes: of a path": () => pass(always, (request) => (request.path = request.path.replace("%2F", "/"))),
  "deployment compression": () =>
    spoil(
      ({ headers }) => headers["accept-encoding"] !== undefined,
      ({ headers }) => (headers["etag"] &&= `W/${headers["etag"]}`),
    ),
  "deployment immediate": () => ({
    stream: (text, { path, headers }) =>
      path.endsWith("/stream") && !headers["last-event-id"] ? new Promise(() => {}) : text,
  }),
  "deployment cache": (key) => pass(to("GET", /\?limit=1$/), (request) => accept(request, key)),
  "deployment forwarded": () =>
    pass(
      ({ claimed }) => claimed !== undefined,
      ({ headers, claimed }) => (headers["x-forwarded-for"] = claimed),
    ),
  "deployment second-address": () => pass(always, ({ headers }) => (headers["x-forwarded-for"] = "192.0.2.1")),
  "deployment plain-http": () => ({ takesPlain: true }),
  "deployment http2": () => ({ isOld: true }),
  "deployment operators": () => ({ isOpen: true }),
  "deployment clock": () => set(to("GET", /\?limit=1$/), { date: new Date(Date.now() - 60_000).toUTCString() }),
  "deployment heartbeat": () => ({
    stream: (text, { path }) => (path.includes("category") && !text.includes("retry") ? "" : text),
  }),

  "limits admitted": () =>
    spoil(
      (_request, { headers }) => headers["x-ratelimit-remaining"] === "0",
      (came) => {
        const seconds = Number(came.headers["x-ratelimit-reset"]) - Math.floor(Date.now() / 1_000);
        came.headers["retry-after"] = `${seconds}`;
        Object.assign(came, { status: 429, body: Buffer.from(JSON.stringify(error("rate_limit_exceeded", 429))) });
      },
    ),
  "limits remaining": () =>
    set((_request, { headers }) => headers["x-ratelimit-remaining"] === "31", { "x-ratelimit-remaining": "30" }),
  "limits refusal": () => set(limited, { "retry-after": "5" }),
  "limits too-early": () => instead(nth(2, limited), 429, error("key_banned", 429)),
};
