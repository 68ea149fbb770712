import { once } from "node:events";
import { connect } from "node:http2";
import { stringify } from "../../client/src/index.ts";
import type { Operation } from "../contract/operation.ts";
import { bodyLimits, QUERY_LIMIT } from "../contract/requests.ts";
import { type Came, type Check, check, help, must, mustHave, Skipped, timeOf, type Way, wrong } from "./check.ts";
import { wrongKey } from "./core.ts";
import { streams, tagsWork } from "./service.ts";

/** How far two clocks may differ, in milliseconds. */
const MOST_DIFFERENCE = 5_000;
/** The time within which a stream must send something, in seconds: the service does every 15, clients wait for 30. */
const MOST_SILENCE = 20;
/** No operation has a parameter of this name. */
const long = "x=".padEnd(QUERY_LIMIT, "x");
/** A stream without events. */
const quiet = "/events/stream?type=category.deleted";

const trusted = "PETSTORE_TRUSTED_PROXIES must name the proxy, which must set X-Forwarded-For itself";
const bodies = "nginx: client_max_body_size 512k, client_body_timeout 10s";
const buffers = "nginx: large_client_header_buffers 4 16k";
const gzip = "nginx: gzip off, which weakens ETag";
const escapes = "the proxy must not decode the address (nginx: proxy_pass without a path)";

/** Imports an animal with a body of so many bytes, or as many as it has. Its end matters: cut, it is no JSON. */
function send(way: Way, bytes = 0, is: number | string = 201, how?: "chunked" | "slowly"): Promise<Came> {
  const text = stringify({ animals: [way.animal()] }).slice(0, -1);
  return way.post("/pets/import", `${text.padEnd(bytes - 1)}}`, is, { how });
}

/** The base address, if it has TLS. */
function secureBase({ given: { base } }: Way): URL {
  if (!base.startsWith("https:")) throw new Skipped("the address is without TLS");
  return new URL(base);
}

/** Requires that a client's address has one request less than before, unless its minute is over. */
function mustCount(before: Came, after: Came): void {
  const isOver = Number(before.headers.get("x-ratelimit-reset")) - 1 <= timeOf(after) / 1_000; // both are rounded
  const due = Number(before.headers.get("x-ratelimit-remaining")) - 1;
  mustHave(after, "x-ratelimit-remaining", `${due}`, (left) => isOver || Number(left) === due);
}

/** Two ids without an event between them: that of the beginning, and that after a silence. */
const hasTwoIds = (text: string) => /(^id:[^]*){2}/m.test(text);
export const heartbeat = (way: Way) => way.follow({ path: quiet }, hasTwoIds, MOST_SILENCE, "an id");

/** What proxies break. */
export function deployment(operations: readonly Operation[]): readonly Check[] {
  const { bytes: largest = 0 } = operations.find(({ name }) => name === "importPets")?.body?.limits ?? {};
  return [
    check("addresses", "Location, Link and the document have the address", "PETSTORE_BASE_URL", async (way) => {
      const [{ base }, added] = [way.given, await way.post("/pets", way.animal())];
      mustHave(added, "location", `${base}/pets/${added.json?.id}`);
      await way.post("/pets", way.animal());
      mustHave(await way.ask("/pets?limit=1"), "link", `<${base}/pets?…`, (it) => it.startsWith(`<${base}/pets?`));
      const document = await way.ask("openapi.json", 200, { key: null });
      must(document, document.json?.servers?.[0]?.url === base, `a server with the address ${base}`);
    }),
    check("keep-alive", "a connection takes a second request", "the proxy must not close it", async (way) => {
      await way.ask("/pets?limit=1", 200, { keepsAlive: true });
      const { sent, isReused } = await way.ask("/pets?limit=2", 200, { keepsAlive: true });
      if (!isReused) throw wrong("an answer on the same connection", sent, "the end of the connection");
    }),
    check("chunked", "a body without a length arrives", bodies, (way) => send(way, 0, 201, "chunked")),
    check("slow-upload", "a body that takes three seconds arrives", bodies, (way) => send(way, 0, 201, "slowly")),
    check("body", `a body of ${bodyLimits.bytes} bytes arrives`, bodies, (way) => send(way, bodyLimits.bytes)),
    check("import", `a body of ${largest} bytes arrives`, bodies, (way) => send(way, largest)),
    check("too-large", "a body of 2 MiB gets an Error", bodies, (way) => send(way, 2 ** 21, "413 payload_too_large")),
    check("long-query", "a query of 8 KiB arrives", buffers, (way) => way.ask(`/pets?${long}`, "400 invalid_request")),
    check("escapes", "escapes in addresses arrive as they are", escapes, async (way) => {
      const animal = way.animal({}, " +%2B&");
      await way.post("/pets", animal);
      const found = await way.ask(`/pets?search=${encodeURIComponent(animal.name)}`);
      must(found, found.json?.[0]?.name === animal.name, `the animal ${animal.name}`);
      const none = await way.ask("/pets/1%2F2", 404);
      must(none, none.json?.code !== "path_not_found", "the code pet_not_found");
    }),
    check("compression", "compressed answers keep texts and tags", gzip, async (way) => {
      const headers = { "Accept-Encoding": "gzip, br" };
      const plain = await way.ask("/events?limit=5");
      const packed = await way.ask("/events?limit=5", 200, { headers });
      must(packed, packed.text === plain.text, plain.text);
      await tagsWork(way, headers);
    }),
    check("immediate", "a stream brings an event at once", help.streams, (way) => streams(way, [], "")),
    check("cache", "an answer is not given to another key", "no cache, or one that obeys Vary", async (way) => {
      await way.ask("/pets?limit=1");
      await way.ask("/pets?limit=1", 401, { key: wrongKey(way) });
    }),
    check("forwarded", "a client cannot choose its address", trusted, async (way) => {
      const at = (address: string) => way.ask("/pets", 401, { key: null, headers: { "X-Forwarded-For": address } });
      mustCount(await at("198.51.100.1"), await at("203.0.113.2"));
    }),
    check("second-address", "each client's address has its own limit", trusted, async (way) => {
      if (way.given.second === undefined) throw new Skipped("--from gives no second address");
      const first = await way.ask("/pets", 401, { key: null });
      await way.ask("/pets", 401, { key: null, from: way.given.second });
      mustCount(first, await way.ask("/pets", 401, { key: null }));
    }),
    check("plain-http", "http does not take a key", "see deploy/proxy/petstore-plain.conf", async (way) => {
      const { hostname, port, pathname } = secureBase(way);
      for (const one of port ? [port] : ["80", "443"]) {
        const path = `http://${hostname}:${one}${pathname}/pets`;
        const came = await way.exchange({ path, key: `psk_test_${"0".repeat(38)}` }).catch(() => undefined);
        if (came) must(came, came.status >= 300 && came.status !== 401, "no answer, a redirect, or status 403");
      }
      if (port) throw new Skipped("the port of TLS is not 443, so that of http is not known");
    }),
    check("http2", "HTTP/2 is offered", "nginx: listen 443 ssl http2", async (way) => {
      const session = connect(secureBase(way).origin);
      const offered = await once(session, "connect").catch((error: Error) => error);
      session.destroy();
      if (offered instanceof Error) throw wrong("h2", `TLS to ${way.given.base}`, `no h2: ${offered.message}`);
    }),
    check("operators", "what is for operators is not public", "see deploy/proxy/petstore-proxy.conf", async (way) => {
      secureBase(way);
      for (const path of ["healthz", "readyz", "metrics"]) await way.ask(path, "401|403|404", { key: null });
    }),
    check("clock", "its clock and that of this machine agree", "synchronise both (NTP)", async (way) => {
      const came = await way.ask("/pets?limit=1");
      const isNow = () => Math.abs(timeOf(came) - Date.now()) <= MOST_DIFFERENCE;
      mustHave(came, "date", `${new Date().toUTCString()}, give or take 5 s`, isNow);
    }),
    check("heartbeat", "a quiet stream sends an id every 15 s", help.streams, heartbeat),
  ];
}
