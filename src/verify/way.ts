import { randomBytes } from "node:crypto";
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { parse, stringify } from "../../client/src/index.ts";
import { type Came, must, timeOf, wrong } from "./came.ts";
import type { read } from "./given.ts";

/** How long a connection may stay silent, in milliseconds. A stream sends something every 15 seconds. */
const MOST_SILENCE = 30_000;
/** The longest wait for a limit, in seconds: a minute, and what rounding adds. */
const MOST_WAIT = 65;
/** How often a request is repeated that a limit refused. */
const MOST_REPEATS = 3;
/** The pieces of a slow body, and the pause before each, in milliseconds: three seconds for an animal. */
const [PIECE, PAUSE] = [/.{1,16}/gsu, 750];

const late = (piece: string) => pause(PAUSE, piece);

/** What a run is given. `say` shows why it waits. */
export type Given = ReturnType<typeof read> & { readonly stop: AbortSignal; readonly say: (line: string) => unknown };

export interface Request {
  readonly method?: string;
  /** Below the base address if it begins with a slash, otherwise beside it, or a whole address. With the query. */
  readonly path: string;
  /** By default that of the run; null for none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text as it is. */
  readonly body?: unknown;
  /** How the body is sent; by default at once, with its length. */
  readonly how?: "chunked" | "slowly" | undefined;
  /** An address of this machine. */
  readonly from?: string | undefined;
  /** True if its connection is that of the last such request, if this is still open. By default, each has its own. */
  readonly keepsAlive?: boolean;
}
/** A status, one of several (`200|404`), or one with the code of an error: `404 pet_not_found`. */
type Status = number | string;

/**
 * The way to a service. It keeps to the limits of keys, remembers all responses, and deletes the animals that it added.
 * Unlike with `fetch`, nothing is repeated, followed, or decompressed unseen.
 */
export class Way {
  readonly given: Given;
  /** All responses of operations so far. */
  readonly came: Came[] = [];
  last: Came | undefined;
  readonly prefix = `verify ${randomBytes(4).toString("hex")}`;
  #names = 0;
  /** The ids of the animals that were added. */
  readonly #added = new Set<string>();
  readonly #shared = new Map<unknown, unknown>();

  constructor(given: Given) {
    this.given = given;
  }

  post(path: string, body: unknown, is: Status = 201, more: Partial<Request> = {}): Promise<Came> {
    return this.ask(path, is, { method: "POST", body, ...more });
  }

  /** A new animal. The names of all begin alike, so that they are found in the end. `words` ends its name. */
  animal(fields: object = {}, words = ""): { readonly name: string } {
    const own = { name: `${this.prefix} ${++this.#names}${words}`, categoryId: BigInt(this.given.category ?? 1) };
    return { ...own, ...fields };
  }

  /** What several checks share. The first one that asks makes it. */
  shared<T>(make: (way: Way) => T): T {
    return this.#shared.getOrInsertComputed(make, () => make(this)) as T;
  }

  /**
   * Sends a request, again if a limit refuses it, and waits for the next minute after the last one of a minute. Throws
   * `Wrong` unless the response has this status.
   */
  async ask(path: string, due: Status = 200, more: Partial<Request> = {}): Promise<Came> {
    for (let repeats = 0; ; repeats++) {
      const came = await this.exchange({ path, ...more });
      const [isLimited, number] = [came.status === 429, (name: string) => Number(came.headers.get(name) ?? Number.NaN)];
      const reset = number("x-ratelimit-remaining") === 0 ? number("x-ratelimit-reset") - timeOf(came) / 1_000 : 0;
      const wait = isLimited ? number("retry-after") || 1 : reset;
      if (wait > 3) this.given.say(`waits ${Math.ceil(wait)} s: the limit is used up`);
      if (wait <= MOST_WAIT) await pause(1_000 * wait, undefined, { signal: this.given.stop }).catch(() => {});
      if (isLimited && wait <= MOST_WAIT && repeats < MOST_REPEATS) continue;
      must(came, new RegExp(`^(${due})( |$)`).test(`${came.status} ${came.json?.code}`), `status ${due}`);
      return came;
    }
  }

  /** Reads a stream until its text is enough. Throws `Wrong` if it ends before, or the seconds are over. */
  async follow(request: Request, isEnough: (text: string) => boolean, seconds: number, right: string): Promise<void> {
    const { sent, answer } = this.#send(request, AbortSignal.timeout(seconds * 1_000));
    let text = "";
    try {
      for await (const piece of (await answer)[0]) if (isEnough((text += piece))) return;
    } catch {
      // what came so far is shown
    }
    throw wrong(`${right} within ${seconds} s`, sent, text || "nothing");
  }

  /** Deletes the animals that were added. Returns how many are left. */
  async removeAll(): Promise<number> {
    const found = await this.ask(`/pets?limit=100&search=${encodeURIComponent(this.prefix)}`).catch(() => undefined);
    const animals: ({ readonly id: bigint; readonly name: string } | null)[] = [found?.json ?? []].flat();
    const ids = animals.flatMap((one) => (one?.name?.startsWith(this.prefix) ? [one.id] : []));
    const came = await this.post("/pets/delete", `{"ids":[${ids.join()}]}`, 200).catch(() => undefined);
    for (const id of came?.json?.deleted ?? []) this.#added.delete(`${id}`);
    return this.#added.size;
  }

  /** Sends a request, and reads the whole response. */
  async exchange(request: Request): Promise<Came> {
    const { sent, outgoing, answer } = this.#send(request);
    try {
      const [response] = await answer;
      const headers = new Headers(response.headers as Record<string, string>);
      const decode = { gzip: gunzipSync, br: brotliDecompressSync }[headers.get("content-encoding") ?? ""];
      const bytes = await buffer(response);
      const text = (decode?.(bytes) ?? bytes).toString();
      const [{ statusCode: status = 0 }, { reusedSocket: isReused }] = [response, outgoing];
      const json = await Promise.try(parse, text).catch(() => undefined);
      this.last = { request, sent, status, headers, text, json, isReused };
    } catch (error) {
      throw wrong("an answer", sent, (error as Error).message || `${(error as NodeJS.ErrnoException).code}`, error);
    }
    const { status, json } = this.last;
    if (request.path.startsWith("/")) this.came.push(this.last);
    const added = request.method === "POST" && status === 201 ? [json?.animals ?? json].flat() : [];
    for (const one of added) if (one?.id !== undefined) this.#added.add(`${one.id}`);
    return this.last;
  }

  /** Sends a request. `answer` is the beginning of the response. */
  #send(request: Request, signal?: AbortSignal) {
    const { method = "GET", path, key = this.given.key, headers = {}, body, how, from, keepsAlive } = request;
    const url = new URL(path.startsWith("/") ? this.given.base + path : path, this.given.base);
    const text = body === undefined || typeof body === "string" ? (body ?? "") : stringify(body);
    const special = Object.entries(headers).map(([name, value]) => ` ${name}: ${value}`);
    const sent = `${method} ${url.href}${key === null ? " without a key" : ""}${special.join(",")} ${text}`;
    const length = how === "chunked" ? { "transfer-encoding": how } : { "content-length": Buffer.byteLength(text) };
    const all = {
      accept: "application/json, text/event-stream",
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(text && { "content-type": "application/json", ...length }),
      ...headers,
    };
    const agent = keepsAlive ? undefined : (false as const);
    const options = { method, headers: all, agent, localAddress: from, signal, timeout: MOST_SILENCE };
    const outgoing = (url.protocol === "https:" ? https : http).request(url, options);
    outgoing.on("timeout", () => outgoing.destroy(new Error(`Nothing came for ${MOST_SILENCE / 1000} s`)));
    const answer = once(outgoing, "response") as Promise<[http.IncomingMessage]>;
    const pieces = Readable.from(text.match(PIECE) ?? []);
    if (how === "slowly") pieces.map(late).pipe(outgoing);
    else outgoing.end(text);
    return { sent, outgoing, answer };
  }
}
