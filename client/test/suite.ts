// What the client does on every platform: each test gets the client, the address of a service and a key. It imports
// nothing of any platform, so that the same file runs in Node, Bun, Deno, workerd and browsers.
import type * as Client from "../src/index.ts";
import { failureOf, matches, same } from "./check.ts";

export interface Context {
  readonly client: typeof Client;
  readonly baseUrl: string;
  /** With the scopes `read` and `write`. */
  readonly key: string;
}

type Test = (context: Context) => Promise<void> | void;

const LARGEST = 2n ** 63n - 1n;

/** A response as the service would give it. */
function response(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "Content-Type": "application/json", ...headers } });
}

/** A `fetch` that gives these responses one after the other, the last one again and again, and what it was asked. */
function canned(...responses: [() => Response, ...(() => Response)[]]) {
  const last = responses.at(-1) ?? responses[0];
  const requests: Request[] = [];
  const fetch = async (url: string, init: Client.FetchInit) => {
    requests.push(new Request(url, init));
    return (responses[requests.length - 1] ?? last)();
  };
  return { fetch, requests };
}

/** Replaces a method. */
const stub = () => Promise.reject(new Error("stub"));

/** A `fetch` to which nobody responds. */
function noResponse(_url: string, { signal }: Client.FetchInit): Promise<Response> {
  return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
}

/** Resolves once something is true. */
async function eventually(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((go) => setTimeout(go, 1));
}

/** A `fetch` to which nobody responds, and the signals of its requests. */
function silent() {
  const signals: AbortSignal[] = [];
  const fetch = (url: string, init: Client.FetchInit) => {
    signals.push(init.signal);
    return noResponse(url, init);
  };
  return { fetch, signals };
}

const error = (code: string, status: number) => ({ code, message: "No.", status });
const refusal = () => response(503, error("overloaded", 503), { "X-Request-Id": "r1" });
const clientFor = (platform: Context, options: Client.Options<"bigint"> = {}) =>
  new platform.client.Petstore({ baseUrl: platform.baseUrl, key: platform.key, ...options });

const integers: Record<string, Test> = {
  "keeps 64-bit integers exact in both directions": async (context) => {
    const petstore = clientFor(context);
    for (const categoryId of [LARGEST, -LARGEST - 1n, 2n ** 53n + 1n, 1n]) {
      const pet = await petstore.createPet({ name: "Rex", categoryId });
      same(pet.categoryId, categoryId);
      same(typeof pet.id, "bigint");
      const [read] = await petstore.listPets({ ids: [pet.id], categoryId }).page();
      same(read, { ...pet });
    }
    same((await petstore.createPet({ name: "Tom", categoryId: 7 })).categoryId, 7n);
  },
  "gives numbers where they are asked for, and refuses those that are not exact": async (context) => {
    const petstore = new context.client.Petstore({ baseUrl: context.baseUrl, key: context.key, ids: "number" });
    const id: number = (await petstore.createPet({ name: "Rex", categoryId: 1 })).id;
    same(typeof id, "number");
    const failure = await failureOf(() => petstore.createPet({ name: "Rex", categoryId: LARGEST }));
    same([failure.name, failure.message.includes("9223372036854775807")], ["RangeError", true]);
  },
  "refuses numbers that were rounded, and missing identifiers, before anything is sent": async (context) => {
    const { fetch, requests } = canned(() => response(200, { id: 1 }));
    const petstore = clientFor(context, { fetch });
    const animal = { name: "Rex", categoryId: 1 };
    const missing = undefined as unknown as number;
    const calls: Record<string, (number: number) => unknown> = {
      path: (id) => petstore.deletePet(id),
      query: (after) => petstore.listEvents({ after }).page(),
      list: (id) => firstOf(petstore.listPets({ ids: [1, id] })),
      stream: (after) => petstore.streamEvents({ after }).next(),
      body: (categoryId) => petstore.createPet({ ...animal, categoryId }),
      deep: (id) => petstore.createPet({ ...animal, parents: [{ id }] } as Client.NewPet),
    };
    for (const [place, call] of Object.entries(calls)) {
      for (const number of [2 ** 53, -(2 ** 53), Number.NaN, Number.POSITIVE_INFINITY]) {
        const { name, message } = await failureOf(() => call(number));
        same([place, name, message.includes(`: ${number} is not exact.`)], [place, "TypeError", true]);
      }
    }
    for (const call of [() => petstore.deletePet(missing), () => petstore.listPets({ ids: [1, missing] }).page()])
      same((await failureOf(call)).name, "TypeError");
    // It rejects rather than throws, so that `catch` of a promise gets the error.
    same(await petstore.revokeKey("").catch(({ name }) => name), "TypeError");
    same(requests.length, 0);
    for (const fine of [2 ** 53 - 1, -(2 ** 53) + 1, 0.5]) await petstore.deletePet(fine);
    same(requests.length, 3);
  },
  "parses and writes JSON without rounding": ({ client: { parse, stringify } }) => {
    same(parse('{"id":1,"n":12345678901234567890,"s":"12345678901234567890","f":0.12345678901234567,"e":1e20}'), {
      id: 1n,
      n: 12345678901234567890n,
      s: "12345678901234567890",
      f: Number("0.12345678901234567"),
      e: 1e20,
    });
    same(parse("[-9223372036854775808, 9007199254740991]"), [-(2n ** 63n), 9007199254740991]);
    same(stringify({ a: [LARGEST, -1n], b: "x", c: undefined }), '{"a":[9223372036854775807,-1],"b":"x"}');
    same(stringify([1n], 1), "[\n 1\n]");
    same(stringify(undefined), undefined);
    for (const text of ["\0", "\0\0", "\x001", 'a"\x001', '\\"\x00', "12345678901234567890", "\u2028\uD800"]) {
      const value = { [text]: text, nested: [text, LARGEST] };
      same(parse(stringify(value)), value);
    }
    for (const text of [
      "{12345678901234567:1}",
      "012345678901234567",
      "1234567890123456 7",
      '"a" 12345678901234567890',
    ]) {
      same(typeof attempt(() => parse(text)), "string");
    }
  },
  "writes bigints also where a program has given them a toJSON": ({ client: { stringify } }) => {
    const prototype = BigInt.prototype as unknown as { toJSON?: () => string };
    prototype.toJSON = () => "text";
    try {
      same(stringify({ id: LARGEST }), '{"id":9223372036854775807}');
    } finally {
      delete prototype.toJSON;
    }
  },
};

const firstOf = (list: AsyncIterable<unknown>) => list[Symbol.asyncIterator]().next();

function attempt(action: () => unknown): unknown {
  try {
    return action();
  } catch {
    return "failed";
  }
}

/** Keys of metadata that every object has already, and one that JSON.parse makes like any other. */
const inherited = { constructor: "1", toString: "2", hasOwnProperty: "3", valueOf: "4", prototype: "5" };

const metadata: Record<string, Test> = {
  "keeps keys that every object has": async (context) => {
    const petstore = clientFor(context);
    const pet = await petstore.createPet({ name: "Rex", categoryId: 1, metadata: inherited });
    same(Object.entries(pet.metadata ?? {}), Object.entries(inherited));
    const { metadata: changed } = await petstore.updatePet(pet.id, { metadata: { constructor: null, toString: "9" } });
    same(Object.entries(changed ?? {}), [
      ["toString", "9"],
      ["hasOwnProperty", "3"],
      ["valueOf", "4"],
      ["prototype", "5"],
    ]);
  },
  "sends the key __proto__, which the service refuses": async (context) => {
    const pairs = JSON.parse('{"__proto__":"1"}') as Record<string, string>;
    const failure = await failureOf(() =>
      clientFor(context).createPet({ name: "Rex", categoryId: 1, metadata: pairs }),
    );
    same([failure["code"], failure.message.includes("__proto__")], ["invalid_request", true]);
  },
  "reads and writes the key __proto__ as any other, and changes no prototype": ({ client: { parse, stringify } }) => {
    const text =
      '{"id":1,"metadata":{"__proto__":{"isPolluted":9007199254740993},"constructor":{"prototype":{"isPolluted":1}}}}';
    const value = parse(text) as { metadata: object };
    same(stringify(value), text);
    same([Object.getPrototypeOf(value.metadata) === Object.prototype, "isPolluted" in value.metadata], [true, false]);
    same(["isPolluted" in {}, "isPolluted" in Object], [false, false]);
  },
};

const pages: Record<string, Test> = {
  "walks a list, and gives one page at a time": async (context) => {
    const petstore = clientFor(context);
    const categoryId = BigInt(Date.now());
    const added: bigint[] = [];
    for (let count = 0; count < 7; count++)
      added.push((await petstore.createPet({ name: `Pet ${count}`, categoryId })).id);
    const seen: bigint[] = [];
    for await (const pet of petstore.listPets({ categoryId, limit: 3 })) seen.push(pet.id);
    same(seen, added);
    const ids: bigint[] = [];
    let cursor: string | undefined;
    do {
      const page = await petstore.listPets({ categoryId, limit: 3, cursor }).page();
      ids.push(...page.map(({ id }) => id));
      cursor = page.next;
    } while (cursor);
    same(ids, added);
  },
  "become an array of at most `max` items": async (context) => {
    const { fetch, requests } = canned(
      () => response(200, [{ id: 1 }, { id: 2 }], { Link: '<https://x.invalid/v1/pets?cursor=a>; rel="next"' }),
      () => response(200, [{ id: 3 }]),
    );
    const read = async (max: number) => {
      const before = requests.length;
      const pets = await clientFor(context, { fetch: async (url, init) => fetch(url, init) })
        .listPets()
        .toArray({ max });
      return [pets.length, requests.length - before];
    };
    same(await read(0), [0, 0]);
    same(await read(2), [2, 1]);
    same(await read(9), [1, 1]); // the last response is the last page
    const wrong = await failureOf(() =>
      clientFor(context)
        .listPets()
        .toArray(5 as never),
    );
    same([wrong.name, wrong.message], ["TypeError", "`max` is undefined."]);
  },
  "ends when the loop ends, and asks for nothing before it begins": async (context) => {
    let requests = 0;
    const petstore = clientFor(context, { onRequest: () => requests++ });
    const list = petstore.listPets({ limit: 1 });
    same(requests, 0);
    for await (const _ of list) break;
    same(requests, 1);
  },
  "ends at once although it waits for a page": async (context) => {
    const { fetch, signals } = silent();
    const list = clientFor(context, { fetch }).listPets()[Symbol.asyncIterator]();
    const next = list.next();
    await eventually(() => signals.length === 1);
    same([(await list.return()).done, (await next).done], [true, true]);
    same([signals[0]?.aborted, signals.length], [true, 1]);
  },
  "takes from a link to another host no more than the cursor": async (context) => {
    const link = '<https://elsewhere.invalid/v1/pets?cursor=abc&x=1>; rel="next"';
    const { fetch, requests } = canned(
      () => response(200, [{ id: 1 }], { Link: link }),
      () => response(200, []),
    );
    for await (const _ of clientFor(context, { fetch }).listPets({ limit: 1 }));
    same(requests[1]?.url, `${context.baseUrl}/pets?limit=1&cursor=abc`);
  },
};

const results: Record<string, Test> = {
  "tell the request id, the limits and the ETag": async (context) => {
    const pet = await clientFor(context).createPet({ name: "Rex", categoryId: 1 });
    const { requestId, rateLimit, etag, status } = pet.$response;
    same([status, typeof requestId, typeof etag], [201, "string", "string"]);
    same(rateLimit !== undefined && rateLimit.limit >= rateLimit.remaining && rateLimit.reset instanceof Date, true);
    same(Object.keys(pet), ["id", "name", "categoryId"]);
  },
  "change only what was read": async (context) => {
    const petstore = clientFor(context);
    const pet = await petstore.createPet({ name: "Rex", categoryId: 1, status: "available" });
    const sold = await petstore.updatePet(pet.id, { status: "pending" }, { ifMatch: pet });
    const failure = await failureOf(() => petstore.updatePet(pet.id, { name: "Max" }, { ifMatch: pet }));
    same([failure.name, failure["code"], failure["status"]], ["ConflictError", "precondition_failed", 412]);
    same((await petstore.deletePet(pet.id, { ifMatch: sold.$response.etag })).$response.status, 204);
    const copy = await failureOf(() => petstore.deletePet(pet.id, { ifMatch: { ...pet } }));
    matches(copy.message, /ifMatch/);
  },
};

const errors: Record<string, Test> = {
  "have a class, a code, a request id and advice": async (context) => {
    const failure = await failureOf(() => clientFor(context).updatePet(LARGEST, { name: "Max" }));
    const { NotFoundError, PetstoreError, isErrorOf } = context.client;
    same([failure instanceof NotFoundError, failure instanceof PetstoreError], [true, true]);
    same([failure.name, failure["code"], failure["status"]], ["NotFoundError", "pet_not_found", 404]);
    same([typeof failure["requestId"], typeof failure["advice"]], ["string", "string"]);
    same([isErrorOf(failure, "updatePet"), isErrorOf(failure, "createPet")], [true, false]);
    matches(String(failure), /^NotFoundError: No animal has the id 9223372036854775807/);
  },
  "name every fault of an invalid request": async (context) => {
    const failure = await failureOf(() => clientFor(context).createPet({ name: "", categoryId: 1 }));
    same([failure.name, failure["code"]], ["InvalidRequestError", "invalid_request"]);
    same(
      (failure["details"] as Client.ErrorDetail[]).map(({ path }) => path),
      ["/body/name"],
    );
  },
  "tell a key that is not valid": async (context) => {
    const failure = await failureOf(() => clientFor(context, { key: "psk_test_wrong" }).listPets().page());
    same([failure.name, failure["code"]], ["AuthenticationError", "invalid_api_key"]);
  },
  "tell responses that are not the service's": async (context) => {
    const unexpected = async (body: string | Uint8Array<ArrayBuffer>, status = 200) => {
      const { fetch } = canned(() => new Response(body, { status }));
      const { name, code } = await failureOf(() =>
        clientFor(context, { fetch, retries: 0 }).createPet({ name: "a", categoryId: 1 }),
      );
      return [name, code];
    };
    for (const body of ["<html>", "", "null", "1", '"text"', '{"id":'])
      same(await unexpected(body), ["ConnectionError", "unexpected_response"]);
    same(await unexpected("<html>", 502), ["ServiceError", "unexpected_response"]);
    same(await unexpected(Uint8Array.of(0x3c, 0xe4, 0x3e), 403), ["PermissionError", "unexpected_response"]); // not UTF-8
    same(await unexpected('{"error":"x"}', 400), ["InvalidRequestError", "unexpected_response"]);
    same(await unexpected("[]", 302), ["ConnectionError", "unexpected_response"]);
  },
};

const attempts: Record<string, Test> = {
  "have one idempotency key in a POST or PATCH, and none in a DELETE": async (context) => {
    const keysOf = async (call: (petstore: Client.Petstore) => Promise<unknown>) => {
      const { fetch, requests } = canned(
        () => response(503, error("overloaded", 503)),
        () => response(200, { id: 1 }),
      );
      await call(clientFor(context, { fetch }));
      return requests.map(({ headers }) => headers.get("idempotency-key"));
    };
    for (const call of [
      (petstore: Client.Petstore) => petstore.createPet({ name: "Rex", categoryId: 1 }),
      (petstore: Client.Petstore) => petstore.updatePet(1, { status: "sold" }),
    ]) {
      const [first, ...others] = await keysOf(call);
      same([(first ?? "").length > 30, others], [true, [first]]);
    }
    same(await keysOf((petstore) => petstore.deletePet(1)), [null, null]);
  },
  "have another idempotency key in each call, even if time and Math.random stand still": async (context) => {
    const { fetch, requests } = canned(() => response(201, { id: 1 }));
    const petstore = clientFor(context, { fetch });
    const { Date: RealDate } = globalThis;
    const { random } = Math;
    const fixed = Date.now();
    globalThis.Date = class extends RealDate {
      constructor() {
        super(fixed);
      }
      static override now = () => fixed;
    } as typeof Date;
    Math.random = () => 0.5;
    try {
      for (let call = 0; call < 2; call++) await petstore.createPet({ name: "Rex", categoryId: 1 });
    } finally {
      globalThis.Date = RealDate;
      Math.random = random;
    }
    same(new Set(requests.map(({ headers }) => headers.get("idempotency-key"))).size, 2);
  },
  "are repeated after transient failures, and only after those": async (context) => {
    const attemptsOf = async (status: number, code: string) => {
      const { fetch, requests } = canned(() => response(status, error(code, status)));
      await failureOf(() => clientFor(context, { fetch, retries: 1 }).createPet({ name: "Rex", categoryId: 1 }));
      return requests.length;
    };
    for (const status of [408, 502, 503, 504]) same([status, await attemptsOf(status, "x")], [status, 2]);
    for (const status of [400, 401, 403, 404, 409, 413, 422, 500])
      same([status, await attemptsOf(status, "x")], [status, 1]);
    same(await attemptsOf(409, "idempotency_key_in_use"), 2);
  },
  "take a lost response to a deletion for done": async (context) => {
    let requests = 0;
    const fetch = async () => {
      if (requests++ === 0) throw new TypeError("connection lost");
      return response(404, error("pet_not_found", 404));
    };
    same((await clientFor(context, { fetch }).deletePet(1)).$response.status, 404);
    same((await failureOf(() => clientFor(context, { fetch }).deletePet(1)))["code"], "pet_not_found");
    const rejecting = canned(
      () => response(503, error("overloaded", 503)), // nothing was done
      () => response(404, error("pet_not_found", 404)),
    );
    const failure = await failureOf(() => clientFor(context, { fetch: rejecting.fetch }).deletePet(1));
    same([failure["code"], rejecting.requests.length], ["pet_not_found", 2]);
  },
  "end with the deadline": async (context) => {
    const failure = await failureOf(() => clientFor(context, { fetch: noResponse, timeout: 50 }).getPet(1));
    same([failure.name, failure["code"]], ["ConnectionError", "deadline_exceeded"]);
  },
  "end when they are aborted": async (context) => {
    const controller = new AbortController();
    const call = failureOf(() =>
      clientFor(context, { onRequest: () => controller.abort() }).getPet(1, { signal: controller.signal }),
    );
    same((await call).name, "AbortError");
    same((await failureOf(() => clientFor(context).getPet(1, { signal: controller.signal }))).name, "AbortError");
  },
  "share one listener of a signal, and leave none": async (context) => {
    const { signal, listeners } = countedSignal();
    const counts = new Set<number>();
    const petstore = clientFor(context, { onRequest: () => counts.add(listeners.size) });
    const reads = Array.from({ length: 20 }, async () => {
      for await (const _ of petstore.listPets({ limit: 1 }, { signal })) break;
      await petstore.getShop({ signal });
    });
    await Promise.all(reads);
    same([[...counts], listeners.size], [[1], 0]);
  },
  "have retries and headers of their own": async (context) => {
    const { fetch, requests } = canned(() => response(503, error("overloaded", 503)));
    const petstore = clientFor(context, { fetch, retries: 2, clock: hasty });
    const headers = { "X-Request-Id": "mine", authorization: "Bearer other" };
    await failureOf(() => petstore.getShop({ retries: 0, headers }));
    same(requests.length, 1);
    const sent = requests[0]?.headers;
    same([sent?.get("x-request-id"), sent?.get("authorization")], ["mine", `Bearer ${context.key}`]);
    await failureOf(() => petstore.getShop());
    same(requests.length, 4);
  },
  "are logged without bodies and keys": async (context) => {
    const lines: string[] = [];
    const logger: Client.Logger = {
      debug: (line) => lines.push(`debug ${line}`),
      warn: (line) => lines.push(`warn ${line}`),
      error: (line) => lines.push(`error ${line}`),
    };
    const { fetch } = canned(refusal, () => response(201, { id: 1, name: "Rex" }), refusal);
    const petstore = clientFor(context, { fetch, logger, clock: hasty, retries: 1 });
    await petstore.createPet({ name: "Rex", categoryId: 1 });
    await failureOf(() => petstore.getShop({ retries: 0 }));
    const shown = lines.map((line) => line.replaceAll(/\d+ ms/g, "N ms"));
    same(shown, [
      "warn petstore: createPet, attempt 1: 503 overloaded in N ms, request r1, again in N ms",
      "debug petstore: createPet, attempt 2: 201  in N ms, request undefined",
      "error petstore: getShop, attempt 1: 503 overloaded in N ms, request r1",
    ]);
  },
  "name the address and the cause of a connection that failed": async (context) => {
    const petstore = clientFor(context, { baseUrl: "http://127.0.0.1:9/v1", retries: 0 });
    const { message, code } = await failureOf(() => petstore.getShop());
    same(code, "connection_failed");
    matches(message, /^No connection to http:\/\/127\.0\.0\.1:9\/v1: ./);
    const empty = Object.assign(new Error(""), { code: "ECONNREFUSED" }); // as Node's, which tried two addresses
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: empty }));
    matches((await failureOf(() => clientFor(context, { fetch, retries: 0 }).getShop())).message, /: ECONNREFUSED$/);
  },
  "are seen by hooks, which may change headers": async (context) => {
    const seen: unknown[] = [];
    const petstore = clientFor(context, {
      onRequest: (request, { operation, attempt: number }) => {
        request.headers.set("X-Request-Id", "hooked");
        seen.push(operation, number, request.method);
      },
      onResponse: ({ status }) => seen.push(status),
    });
    await petstore.createPet({ name: "Rex", categoryId: 1 });
    same(seen, ["createPet", 1, "POST", 201]);
    const broken = clientFor(context, { onResponse: () => Promise.reject(new Error("of the hook")) });
    same((await failureOf(() => broken.getPet(1))).message, "of the hook");
  },
};

/** A clock that stands still until `pass` advances it. */
function standingClock() {
  let now = 0;
  const timers: { at: number; run: () => void }[] = [];
  const clock: Client.Clock = {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
    for (const { run } of timers.filter(({ at }) => at <= now)) run();
  };
  return { clock, pass };
}

const retryHeaders = (retryAfter: string) => ({ "Retry-After": retryAfter, Date: "Fri, 27 Nov 2026 12:00:00 GMT" });

const limits: Record<string, Test> = {
  "make all calls of a client wait together, and no other's": async (context) => {
    const { clock, pass } = standingClock();
    const { fetch, requests } = canned(
      () => response(429, error("rate_limit_exceeded", 429), { "Retry-After": "30" }),
      () => response(200, { id: 1 }),
    );
    const [one, other] = [clientFor(context, { fetch, clock }), clientFor(context, { fetch, clock })];
    const calls = [one.getPet(1), one.getPet(2), one.getPet(3)];
    const impatient = await failureOf(() => one.getPet(4, { timeout: 29_000 }));
    same([impatient.name, impatient["retryAfter"], impatient["operation"]], ["RateLimitError", 30, "getPet"]);
    same(requests.length, 1);
    await other.getPet(5);
    pass(30_000);
    await Promise.all(calls);
    same(requests.length, 5);
  },
  "are read from dates too, by the clock of the service": async (context) => {
    const waitAfter = async (status: number, headers: Record<string, string>) => {
      const { clock } = standingClock(); // it stands at the start of 1970
      const key = `psk_test_${crypto.randomUUID()}`;
      const { fetch } = canned(() => response(status, "<h1>maintenance</h1>", headers));
      const call = () => clientFor(context, { fetch, clock, key, retries: 0, timeout: 29_000 }).getShop();
      return (await failureOf(call))["retryAfter"];
    };
    for (const status of [429, 503]) {
      for (const date of [
        "Fri, 27 Nov 2026 12:00:30 GMT",
        "Friday, 27-Nov-26 12:00:30 GMT",
        "Fri Nov 27 12:00:30 2026",
      ]) {
        same([date, await waitAfter(status, retryHeaders(date))], [date, 30]);
      }
      same(await waitAfter(status, { "Retry-After": "Thu, 01 Jan 1970 00:00:30 GMT" }), 30);
      same(await waitAfter(status, retryHeaders("30")), 30);
    }
    for (const nothing of ["Fri, 27 Nov 2026 11:59:59 GMT", "0", "-1", "soon", ""])
      same(await waitAfter(503, retryHeaders(nothing)), undefined);
  },
  "of streams make only the stream wait": async (context) => {
    const { clock, pass } = standingClock();
    const { fetch, requests } = canned(
      () => response(429, error("too_many_streams", 429), { "Retry-After": "5" }),
      () => response(200, {}),
      () => streaming(eventText(7)),
    );
    const petstore = clientFor(context, { fetch, clock, key: `psk_test_${crypto.randomUUID()}` });
    const event = petstore.streamEvents().next();
    await petstore.getShop({ timeout: 1_000 });
    same(requests.length, 2);
    pass(5_000);
    same((await event).value?.id, 7n);
  },
};

const others: Record<string, Test> = {
  "warns of a deprecated operation once": async (context) => {
    const notices: Client.DeprecationNotice[] = [];
    const petstore = clientFor(context, { onDeprecated: (notice) => notices.push(notice) });
    const { id } = await petstore.createPet({ name: "Rex", categoryId: 1 });
    await petstore.getPet(id);
    await petstore.getPet(id);
    const [{ operation, sunset, successor } = {} as Client.DeprecationNotice] = notices;
    same([notices.length, operation, sunset?.toISOString()], [1, "getPet", "2030-12-05T00:00:00.000Z"]);
    same(successor, `${context.baseUrl}/pets`);
  },
  "has methods that a test can replace, and restore": async (context) => {
    const petstore = clientFor(context);
    petstore.getShop = stub;
    same((await failureOf(() => petstore.getShop())).message, "stub");
    const { prototype } = context.client.Petstore;
    const original = Object.getOwnPropertyDescriptor(prototype, "getShop") as PropertyDescriptor;
    Object.defineProperty(prototype, "getShop", { value: stub });
    Object.defineProperty(prototype, "getShop", original);
    same((await clientFor(context).getShop()).$response.status, 200);
  },
  "explains a key, an address and an identifier that cannot be right": async (context) => {
    const { Petstore } = context.client;
    const { baseUrl, key } = context;
    const message = async (options: Client.Options) => (await failureOf(() => new Petstore(options))).message;
    matches(await message({ baseUrl, key: " " }), /API key.*PETSTORE_KEY/);
    matches(await message({ baseUrl, key: "psk_test_x\r\nX-Other: 1" }), /^No API key/);
    for (const wrong of [`Bearer ${key}`, "<your key>", "<YOUR_KEY>", "psk_test_…"])
      same(await message({ baseUrl, key: wrong }), "No API key (psk_…): pass { key } or set PETSTORE_KEY.");
    matches(await message({ key, baseUrl: "" }), /PETSTORE_URL/);
    matches(
      await message({ key, baseUrl: "http://127.0.0.1:8080" }),
      /ends with \/v1, not "http:\/\/127\.0\.0\.1:8080"\.$/,
    );
    matches(await message({ key, baseUrl: "ftp://x/v1" }), /ftp:/);
    // Not "http://a b/v1": Chromium accepts a space in a host.
    for (const impossible of ["http://[/v1", "http://x:99999/v1"]) {
      const explained = await message({ key, baseUrl: impossible });
      same(explained, `\`baseUrl\` or PETSTORE_URL must be a URL that ends with /v1, not "${impossible}".`);
    }
    matches((await failureOf(() => clientFor(context).revokeKey(".."))).message, /identifier/);
    matches((await failureOf(() => clientFor(context).revokeKey(""))).message, /identifier/);
    const pasted = new Petstore({ key: ` ${key}\n`, baseUrl: `\t${baseUrl}/ \r\n` });
    same((await pasted.getShop()).$response.status, 200);
  },
  "does not let a response change other objects": async (context) => {
    const body = '{"id":1,"__proto__":{"polluted":true,"id":5},"constructor":{"prototype":{"polluted":true}}}';
    const { fetch } = canned(() => response(200, body));
    const pet = await clientFor(context, { fetch }).getPet(1);
    same([({} as { polluted?: true }).polluted, Object.hasOwn(pet, "__proto__")], [undefined, true]);
    const hostile = canned(() =>
      response(400, '{"code":"x","message":"y","status":1,"details":[],"__proto__":{"polluted":1}}'),
    );
    const failure = await failureOf(() => clientFor(context, { fetch: hostile.fetch }).getPet(1));
    same([failure["polluted"], failure["status"]], [undefined, 400]);
  },
  "refuses headers with line breaks before anything is sent": async (context) => {
    const { fetch, requests } = canned(() => response(201, { id: 1 }));
    const petstore = clientFor(context, { fetch });
    const options = { idempotencyKey: "a\r\nX-Other: 1" };
    same((await failureOf(() => petstore.createPet({ name: "a", categoryId: 1 }, options))).name, "TypeError");
    same(requests.length, 0);
  },
};

const body = '{"id":"msg_1","type":"pet.created","data":{"id":9223372036854775807,"name":"Räx 🐶"}}';
const now = 1_795_262_400_000;
const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const publicKey = "whpk_0+oWixaG1UeltjEwGswMUuE95OxHN4WGoBWEt738ick=";
const v1 = "v1,urWUXbYpEGeWU9Ts8B5jfZ4pEe3rcmQExvo5CWJXPZ0=";
const v1a = "v1a,fHsflfJ6zPTOupaZG77O9dCGIrtZYpbzinMjTs/zmPDOT8a3OQQsYgSs2HZcIkXS1eraB/QdyMx9quXadRAsBg==";
const webhookHeaders = (signature: string) => ({
  "Webhook-Id": "msg_1",
  "webhook-timestamp": "1795262400",
  "webhook-signature": signature,
});

const webhooks: Record<string, Test> = {
  "are verified with a secret or a public key": async ({ client: { verifyWebhook } }) => {
    const bytes = new TextEncoder().encode(body);
    const headers = webhookHeaders(`v1,AAAA ${v1} ${v1a}`);
    same((await verifyWebhook(body, headers, secret, { now })).data.id, LARGEST);
    await verifyWebhook(bytes, new Headers(headers), publicKey, { now: now + 299_000 });
    await verifyWebhook(bytes, headers, ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", ` ${secret}\n`], { now });
  },
  "are refused if anything is not as it was sent": async ({ client: { verifyWebhook, WebhookVerificationError } }) => {
    const good = webhookHeaders(`${v1} ${v1a}`);
    const cases: Parameters<typeof verifyWebhook>[] = [
      [`${body} `, good, secret, { now }],
      [body, { ...good, "Webhook-Id": "msg_2" }, secret, { now }],
      [body, { ...good, "webhook-timestamp": "1795262401" }, secret, { now }],
      [body, good, secret, { now: now + 301_000 }],
      [body, good, secret, { now: now - 301_000 }],
      [body, { ...good, "webhook-timestamp": "1e9" }, secret, { now, tolerance: 1e12 }],
      [body, {}, secret, { now }],
      [body, webhookHeaders(v1a), secret, { now }],
      [body, webhookHeaders(v1), publicKey, { now }],
      [body, webhookHeaders(v1.replace("v1,", "v1a,")), publicKey, { now }],
      [body, webhookHeaders("v1,%%% v1 , v1a"), secret, { now }],
      [body, good, [], { now }],
    ];
    for (const [index, one] of cases.entries()) {
      const failure = await failureOf(() => verifyWebhook(...one));
      same(
        [index, failure instanceof WebhookVerificationError, failure.name],
        [index, true, "WebhookVerificationError"],
      );
    }
    for (const wrong of ["secret", undefined as never]) {
      const { name, message } = await failureOf(() => verifyWebhook(body, good, wrong, { now }));
      same([name, message], ["TypeError", "Keys begin with whsec_ or whpk_."]);
    }
    for (const parsed of [JSON.parse(body), undefined] as never[]) {
      const { name, message } = await failureOf(() => verifyWebhook(parsed, good, secret, { now }));
      same([name, message], ["TypeError", "`body` must not be parsed."]);
    }
  },
  "follow the example of the standard": async ({ client: { verifyWebhook } }) => {
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const example = '{"test": 2432232314}';
    same(await verifyWebhook(example, headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", { now: 1_614_265_330_000 }), {
      test: 2432232314,
    });
  },
};

/** A response that streams these texts and then ends. */
const streaming = (...texts: string[]) =>
  new Response(new Blob(texts).stream(), { headers: { "Content-Type": "text/event-stream" } });
const eventText = (id: number) => `event: x\ndata: {"id":${id},"at":"\u2028"}\nid: ${id}\n\n`;
/** A clock on which a pause takes no time. */
const hasty = {
  now: () => Date.now(),
  after: (milliseconds: number, run: () => void) => {
    const timer = setTimeout(run, milliseconds > 10_000 ? milliseconds : 0);
    return () => clearTimeout(timer);
  },
};

/** A signal and its listeners. */
function countedSignal() {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener(...input: Parameters<typeof add>) {
      listeners.add(input[1]);
      add(...input);
    },
    removeEventListener(...input: Parameters<typeof remove>) {
      listeners.delete(input[1]);
      remove(...input);
    },
  });
  return { signal, listeners };
}

function refused(): Response {
  throw new TypeError("refused");
}

const streams: Record<string, Test> = {
  "give events as they happen, until the loop ends": async (context) => {
    const petstore = clientFor(context);
    const pet = await petstore.createPet({ name: "Rex", categoryId: LARGEST });
    const seen: string[] = [];
    for await (const event of petstore.streamEvents({ petId: pet.id, after: 0n })) {
      seen.push(event.type);
      if (event.type !== "pet.created" && event.type !== "pet.updated") throw new Error(event.type);
      same([typeof event.id, event.subject.id, event.data.categoryId], ["bigint", String(pet.id), LARGEST]);
      if (event.type === "pet.updated") same(event.previous.status, null); // it was absent
      if (seen.length === 2) break;
      await petstore.updatePet(pet.id, { status: "sold" });
    }
    same(seen, ["pet.created", "pet.updated"]);
  },
  "pass on types of events that the client does not know": async (context) => {
    const event = { id: 7, type: "pet.groomed", data: { id: 7, groomerId: 5 }, extra: true };
    const known = { ...event, id: 7n, data: { id: 7n, groomerId: 5n } };
    const { fetch } = canned(
      () => response(200, [event]),
      () => streaming(`event: pet.groomed\ndata: ${JSON.stringify(event)}\nid: 7\n\n`),
    );
    const petstore = clientFor(context, { fetch });
    same(await petstore.listEvents().page(), [known]);
    same((await petstore.streamEvents().next()).value, known);
  },
  "continue after the last event after a lost connection": async (context) => {
    const { fetch, requests } = canned(
      () => streaming("retry: 1000\nid: 6\n"),
      () => streaming(eventText(7), eventText(8).slice(0, -2)),
      () => streaming("id: 8\n: nothing new\n"),
      () => response(503, error("overloaded", 503)),
      () => streaming(eventText(9).slice(0, 9), eventText(9).slice(9)),
    );
    const ids: bigint[] = [];
    const { signal, listeners } = countedSignal();
    const petstore = clientFor(context, { fetch, clock: hasty });
    for await (const { id, at: time } of petstore.streamEvents({ after: 5 }, { signal })) {
      same(time, "\u2028");
      ids.push(id);
      if (id === 9n) break;
    }
    same(ids, [7n, 9n]);
    same(
      requests.map(({ headers }) => headers.get("last-event-id")),
      [null, "6", "7", "8", "8"],
    );
    same(new Set(requests.map(({ url }) => url)).size, 1);
    same(listeners.size, 0);
  },
  "reconnect until the timeout, however many retries fail": async (context) => {
    let passed = 0;
    const clock: Client.Clock = {
      now: () => passed,
      after(milliseconds, run) {
        if (milliseconds > 10_000) return () => {}; // no attempt takes that long
        passed += milliseconds;
        queueMicrotask(run);
        return () => {};
      },
    };
    const { fetch, requests } = canned(
      () => streaming("id: 6\n"),
      ...Array.from({ length: 6 }, () => refused),
      () => streaming(eventText(7)),
      refused,
    );
    const stream = clientFor(context, { fetch, clock, retries: 0 }).streamEvents({ after: 5 });
    same((await stream.next()).value?.id, 7n);
    const before = passed;
    same((await failureOf(() => stream.next()))["code"], "connection_failed");
    same([requests.length > 9, passed - before <= 61_000], [true, true]);
  },
  "end with the error of a service that refuses them": async (context) => {
    const { fetch } = canned(
      () => streaming("id: 6\n"),
      () => response(410, error("events_expired", 410)),
    );
    const stream = clientFor(context, { fetch, clock: hasty }).streamEvents();
    const failure = await failureOf(() => stream.next());
    same([failure["code"], failure["operation"]], ["events_expired", "streamEvents"]);
  },
  "end at once, with their connection, although they wait for an event": async (context) => {
    for (const end of ["return", "throw"] as const) {
      let isOpen = false;
      const quiet = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("id: 6\n")),
        pull: () => void (isOpen = true),
        cancel: () => void (isOpen = false),
      });
      const { fetch, requests } = canned(() => new Response(quiet));
      const stream = clientFor(context, { fetch }).streamEvents();
      const next = stream.next();
      await eventually(() => isOpen);
      if (end === "return") await stream.return(undefined as never);
      else same((await failureOf(() => stream.throw(new Error("enough")))).message, "enough");
      same([end, (await next).done, (await stream.next()).done], [end, true, true]);
      same([isOpen, requests.length], [false, 1]);
    }
    const { fetch, signals } = silent();
    const stream = clientFor(context, { fetch }).streamEvents();
    const next = stream.next();
    await eventually(() => signals.length === 1);
    await stream.return(undefined as never);
    same([(await next).done, signals[0]?.aborted], [true, true]);
  },
  "end when their signal is aborted": async (context) => {
    const abort = new AbortController();
    const stream = clientFor(context).streamEvents({}, { signal: abort.signal });
    const failure = failureOf(() => stream.next());
    abort.abort(new Error("enough"));
    same((await failure).message, "enough");
  },
  "end at once when their signal is aborted while they are open": async (context) => {
    const clock: Client.Clock = { now: () => Date.now(), after: () => () => {} }; // waits do not end
    const petstore = clientFor(context, { clock });
    const { id } = await clientFor(context).createPet({ name: "Rex", categoryId: 1 });
    const abort = new AbortController();
    const stream = petstore.streamEvents({ petId: id, after: 0n }, { signal: abort.signal });
    same((await stream.next()).value?.type, "pet.created");
    const failure = failureOf(() => stream.next());
    abort.abort(new Error("enough"));
    same((await failure).message, "enough");
  },
};

/** All tests by their full names. */
export const suite: Readonly<Record<string, Test>> = Object.fromEntries(
  Object.entries({
    integers,
    metadata,
    pages,
    results,
    errors,
    attempts,
    limits,
    client: others,
    streams,
    webhooks,
  }).flatMap(([group, tests]) => Object.entries(tests).map(([name, test]) => [`${group}: ${name}`, test])),
);
