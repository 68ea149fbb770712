import { Check as fits } from "typebox/schema";
import type { Operation } from "../contract/operation.ts";
import { dateToUnixSeconds, errorsOf } from "../contract/operation-properties.ts";
import { type Came, type Check, check, help, must, mustHave, type Way } from "./check.ts";
import { unknown } from "./core.ts";

/** An event, or an animal. */
type Item = Readonly<{ id: bigint; data: { readonly id: bigint } }>;

/** How soon a stream must bring an event, in seconds. */
const SOON = 5;
const head = { method: "HEAD" };
const origin = { Origin: "https://other.example" };

/** Adds three animals with one request. Returns the ids of the animals and of their events, oldest first. */
async function addThree(way: Way) {
  const added = await way.post("/pets/import", { animals: [way.animal(), way.animal(), way.animal()] });
  const ids: readonly bigint[] = added.json.animals.map(({ id }: Item) => id);
  const came = await way.ask("/events?sort=-id&limit=100&type=pet.created");
  const own: readonly Item[] = came.json.filter(({ data }: Item) => ids.includes(data.id)).toReversed();
  return { ids, came, events: own.map(({ id }) => id) };
}

/** Requires that a stream brings the events with these ids first, and a new one at once, each with its id, and once. */
export async function streams(way: Way, ids: readonly bigint[], query: string, headers = {}): Promise<void> {
  const animal = way.animal();
  let added: Promise<unknown> | undefined;
  const isEnough = (text: string) => {
    const came = [...text.matchAll(/^data: \{"id":(\d+).*\nid: \1$/gm)].map(([, id]) => id);
    if (came.join().startsWith(ids.join())) added ??= way.post("/pets", animal).catch(() => {}); // the event is missed
    return came.length > ids.length && new Set(came).size === came.length && text.includes(`"${animal.name}"`);
  };
  const request = { path: `/events/stream${query}`, headers };
  await way.follow(request, isEnough, SOON, `the events ${[...ids, "of a new animal"].join(", ")}, each once`);
  await added;
}

/** Requires that entity tags are good for a 304, and for one change. The headers are sent with all requests. */
export async function tagsWork(way: Way, headers: Record<string, string> = {}): Promise<void> {
  const { ids } = await way.shared(addThree);
  const tag = mustHave(await way.ask(`/pets?ids=${ids[0]}`, 200, { headers }), "etag");
  await way.ask(`/pets?ids=${ids[0]}`, 304, { headers: { ...headers, "If-None-Match": tag } });
  const change = (is: number, more?: object) =>
    way.ask(`/pets/${ids[0]}`, is, { method: "PATCH", headers: { ...headers, ...more }, body: way.animal() });
  const changed = { "If-Match": mustHave(await change(200), "etag") };
  await change(200, changed);
  await change(412, changed);
}

/** The paths of an operation. Parameters in requests of this command are ids of animals. */
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "\\d+")}(\\?|$)`);

/** What this service adds to the interface. */
export function service(operations: readonly Operation[]): readonly Check[] {
  const { since = "" } = operations.find(({ name }) => name === "getPet")?.deprecation ?? {};
  /** The operation that a response is of. */
  const operationOf = ({ request: { method = "GET", path } }: Came) =>
    operations.find((one) => one.method === method && patternOf(one.path).test(path));
  /** The tools that every key has which may read and write. */
  const tools = operations
    .filter(({ scopes, separateQuota }) => !scopes.includes("admin") && separateQuota !== "sandbox")
    .flatMap(({ agentTools = {} }) => Object.keys(agentTools));
  const lists = operations.filter((one) => one.method === "GET" && !/\{/.test(one.path) && !one.response.stream);

  return [
    check("cursors", "pages that Link leads to hold each animal once", help.calls, async (way) => {
      const { ids } = await way.shared(addThree);
      let query: string | undefined = `limit=1&ids=${ids.join()}`;
      for (const id of ids) {
        const came = await way.ask(`/pets?${query}`);
        query = /\?([^>]*)>; *rel="next"/.exec(came.headers.get("link") ?? "")?.[1];
        must(came, came.json?.[0]?.id === id && (id === ids[2] || query), `the animal ${id}, and the next page`);
      }
    }),
    check("entity-tags", "a tag is good for a 304, and for one change", help.asIs, (way) => tagsWork(way)),
    check("idempotency", "a POST that is repeated with its key is done once", help.asIs, async (way) => {
      const body = way.animal();
      const headers = { "Idempotency-Key": body.name.replaceAll(" ", "-") };
      const first = await way.post("/pets", body, 201, { headers });
      const again = await way.post("/pets", body, 201, { headers });
      must(again, again.json?.id === first.json?.id, `the animal ${first.json?.id}`);
      mustHave(again, "idempotent-replayed");
      await way.post("/pets", way.animal(), 422, { headers });
    }),
    check("events", "each change is an event, without gaps", "docs/events.md", async (way) => {
      const { came, events } = await way.shared(addThree);
      must(came, events[2] === (events[0] ?? 0n) + 2n, "the events of three new animals, with consecutive ids");
    }),
    check("stream", "the stream brings events in order", help.streams, async (way) => {
      const { events } = await way.shared(addThree);
      await streams(way, events, `?after=${(events[0] ?? 0n) - 1n}`);
    }),
    check("resumption", "a stream continues after Last-Event-ID", help.asIs, async (way) => {
      const [last, ...others] = (await way.shared(addThree)).events;
      await streams(way, others, "", { "Last-Event-ID": `${last}` });
    }),
    check("cors", "pages of other origins can read responses and their headers", help.asIs, async (way) => {
      const came = await way.ask("/pets?limit=1", 200, { headers: origin });
      mustHave(came, "access-control-allow-origin", "*");
      for (const name of ["x-ratelimit-remaining", "retry-after", "etag", "link", "x-request-id"])
        mustHave(came, "access-control-expose-headers", name);
    }),
    check("preflight", "pages of other origins may send every method and a key", help.asIs, async (way) => {
      const headers = { ...origin, "Access-Control-Request-Method": "PATCH" };
      const came = await way.ask("/pets/1", 204, { method: "OPTIONS", key: null, headers });
      mustHave(came, "access-control-allow-methods", "PATCH");
      mustHave(came, "access-control-allow-headers", "Authorization");
    }),
    check("head", "HEAD has an entity tag", help.asIs, async (way) =>
      mustHave(await way.ask("/pets", 200, head), "etag"),
    ),
    check("deprecation", "getPet says since when it is deprecated, and what replaces it", help.asIs, async (way) => {
      const came = await way.ask(`/pets/${(await way.shared(addThree)).ids[0]}`);
      mustHave(came, "deprecation", `@${dateToUnixSeconds(since)}`);
      mustHave(came, "link", 'rel="successor-version"');
    }),
    check("operations", "every list of the contract answers", "the proxy must pass on every path", async (way) => {
      for (const { path } of lists) await way.ask(path, "200|403"); // 403: the key has not the scope
    }),
    check("codes", "every error so far had a code of the contract", help.errors, async (way) => {
      await way.exchange({ path: unknown });
      for (const came of way.came.filter(({ status, json }) => status >= 400 && json?.code)) {
        const operation = operationOf(came);
        const codes = operation ? errorsOf(operation).map(({ code, status }) => `${status} ${code}`) : [];
        must(came, codes.includes(`${came.status} ${came.json.code}`), `a code of ${operation?.name}`);
      }
    }),
    check("request-ids", "every response so far had another X-Request-Id", help.asIs, ({ came }) => {
      const ids = new Set<string>();
      for (const one of came) ids.add(mustHave(one, "x-request-id", "one that is new", (id) => !ids.has(id)));
    }),
    check("tools", "assistants find every tool at /mcp", "the proxy must pass on /mcp", async (way) => {
      const came = await way.post("mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }, 200);
      const missing = tools.filter((name) => !came.text.includes(`"name":"${name}"`));
      must(came, missing.length === 0, `the tools ${missing.join(", ")}`);
    }),
    check("document", "/openapi.json allows every success so far", "the proxy must pass it on", async (way) => {
      const document = await way.ask("openapi.json", 200, { key: null });
      const { paths, components } = JSON.parse(document.text);
      const partOf = ({ path, method }: Operation) => paths[path]?.[method.toLowerCase()];
      const missing = operations.find((one) => !partOf(one));
      must(document, !missing, `a document with ${missing?.name}`);
      for (const one of way.came.filter(({ status, text }) => status < 300 && text)) {
        const operation = operationOf(one);
        const schema = operation && partOf(operation).responses[one.status]?.content?.["application/json"].schema;
        must(one, schema && fits({ components, ...schema }, JSON.parse(one.text)), `the schema of ${operation?.name}`);
      }
    }),
  ];
}
