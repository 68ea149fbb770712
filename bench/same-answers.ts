import { send } from "./peers.ts";
import type { Request } from "./requests.ts";

/** Headers whose values are the same for all servers. */
const EXACT = new Set(["deprecation", "sunset", "vary", "idempotent-replayed"]);
/** Written by the HTTP server itself. */
const IGNORED = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);
/** The service sends some of these with errors, too. */
const OF_SUCCESS = new Set(["deprecation", "link", "sunset"]);

interface Server {
  readonly name: string;
  readonly url: string;
}

/**
 * Compares what servers answer with what the first one does: all must have the same operations, keys, limits, idempotency
 * keys, entity tags, headers and errors. All have the same animals. `usedUp` is the key of an account with one request a day.
 */
export async function requireSameAnswers(servers: readonly Server[], key: string, usedUp: string): Promise<void> {
  const [expected = [], ...others] = await Promise.all(servers.map(({ url }) => answersOf(url, key, usedUp)));
  for (const [index, answers] of others.entries()) {
    const different = answers.findIndex((answer, place) => answer !== expected[place]);
    if (different < 0) continue;
    throw new Error(`${servers[index + 1]?.name}:\n${answers[different]}\nexpected:\n${expected[different]}`);
  }
}

/** What a server answers to some requests, without what differs between servers. */
async function answersOf(url: string, key: string, usedUp: string): Promise<string[]> {
  const answers: string[] = [];
  const ask = async (path: string, more: Partial<Request> = {}, sent = key): Promise<Headers> => {
    const response = await send(url, { method: "GET", path, ...more }, sent);
    answers.push(`${more.method ?? "GET"} ${path} ${more.body ?? ""} → ${await textOf(response, url)}`);
    return response.headers;
  };
  const post = (name: string, unique: string, more: object = {}) => {
    const body = JSON.stringify({ name, categoryId: 1, status: "available", ...more });
    return ask("/v1/pets", { method: "POST", body, headers: { "Idempotency-Key": unique } });
  };

  const tag = (await ask("/v1/pets/7")).get("ETag") ?? "";
  await ask("/v1/pets/7", { headers: { "If-None-Match": tag } });
  await ask("/v1/pets/999999999");
  await ask("/v1/pets/0x7");
  const list = await ask("/v1/pets?limit=5&status=available");
  // Without the address, which differs, and with a cursor that differs.
  const next = /<([^>]+)>/.exec(list.get("Link") ?? "")?.[1] ?? "";
  const following = await send(url, { method: "GET", path: next.replace(/^https?:\/\/[^/]+/, "") }, key);
  answers.push(await textOf(following, url));
  await ask("/v1/pets?limit=0");
  await ask("/v1/pets?colour=red");
  await ask("/v1/nothing");

  const location = (await post("Rex", "one")).get("Location") ?? "";
  await post("Rex", "one");
  await ask(location.replace(/^https?:\/\/[^/]+/, ""));
  await post("Max", "one");
  await post("Max", "two");
  await post("", "three");
  await post("Max", "four", { colour: "red" });
  await ask("/v1/pets", { method: "POST", body: "{" });
  // One animal each was added, by these two keys and without one.
  await ask("/v1/pets", { method: "POST", body: '{"name":"Tom","categoryId":2}' });

  await ask("/v1/pets/7", {}, "wrong");
  await ask("/v1/nothing", {}, usedUp); // its animals would be those of another shop, which the peers do not have
  await ask("/v1/pets/7", {}, usedUp);
  return answers;
}

/** Status, headers and body. Of an error only the code counts, of most headers only that they are there. */
async function textOf(response: Response, url: string): Promise<string> {
  const body = await response.text();
  const isIgnored = (name: string) =>
    IGNORED.has(name) || (OF_SUCCESS.has(name) && !response.ok) || (name === "content-type" && body === "");
  const names = [...response.headers.keys()].filter((name) => !isIgnored(name));
  const headers = names.map((name) => (EXACT.has(name) ? `${name}: ${response.headers.get(name)}` : name));
  const location = response.headers.get("location")?.replace(url, "");
  const shown = response.status < 400 ? body : (JSON.parse(body) as { code: string }).code;
  return [response.status, ...headers.toSorted(), location, shown].join("\n");
}
