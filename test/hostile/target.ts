import { readFileSync } from "node:fs";
import { domains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { readConfig } from "../../src/config.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { AccountStore } from "../../src/domains/accounts/accounts.store.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { acceptedStatuses } from "../harness/accepted-outcomes.ts";
import { development } from "../harness/key-environments.ts";
import { newKeyIn } from "../harness/keys.ts";
import { metricsText } from "../harness/metrics.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { type ExchangeOptions, exchange, type RawResponse } from "../harness/raw-http.ts";
import { isLongRun } from "../harness/test-length.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { pathOf } from "../harness/valid-call.ts";
import { type RawRequest, render, validRequest } from "./raw-request.ts";
import { Soundness } from "./soundness.ts";

/** The operations of the interface. A new operation is attacked without further code. */
export const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

/** In a short run, an operation gets one of this many cases that are the same for all. */
const SHARE = 16;

/** True for the first operation that has the same of something, such as its method. */
export function isFirstWith(same: (operation: Operation) => unknown, operation: Operation): boolean {
  return operations.find((one) => same(one) === same(operation)) === operation;
}

/**
 * True if an operation gets the case with this number, of those that are the same for all operations. A short run
 * distributes them, so that all operations together get each case several times.
 */
export function isCaseOf(operation: Operation, number: number): boolean {
  return isLongRun || (operations.indexOf(operation) + number) % SHARE === 0;
}

/** How many keys are created together. */
const BATCH = 200;

/** The real program as a process, and what it answered to hostile requests. */
export class Target {
  readonly program: Program;
  readonly key: string;
  readonly port: number;
  /** The path of the base address. */
  readonly basePath: string;
  readonly document: unknown;
  readonly #soundness: Soundness;
  /** Requests so far. */
  cases = 0;
  #anonymousClients = 0;
  readonly #storage: OpenStorage;
  readonly #freshKeys: string[] = [];
  #refilling: Promise<void> | undefined;

  static async start(): Promise<Target> {
    // Anonymous clients come from an address each, by this proxy's word, so that their limit does not end the attack.
    const program = await Program.start(newDataDir(), {
      PETSTORE_ENV: "staging",
      PETSTORE_TRUSTED_PROXIES: "127.0.0.1",
    });
    const { key } = await newKeyIn(program.dataDir, { quota: unlimitedQuota, scopes });
    const document = await (await fetch(new URL("/openapi.json", program.base))).json();
    const settings = { PETSTORE_DATA_DIR: program.dataDir };
    const storage = await openStorage(readConfig(settings, undefined, settingsOf(domains)));
    const target = new Target(program, key, document, storage);
    await target.#refill();
    // What is added here has the id 1, which the valid requests of other operations name. In this order,
    // because a category gets no id that an animal names; and twice, because an order needs an animal.
    const adding = operations
      .filter(({ method, separateQuota }) => method === "POST" && separateQuota !== "sandbox")
      .toReversed();
    for (const operation of [...adding, ...adding]) await target.outcome(target.valid(operation));
    return target;
  }

  private constructor(program: Program, key: string, document: unknown, storage: OpenStorage) {
    this.#storage = storage;
    const { port, pathname } = new URL(program.base);
    this.program = program;
    this.key = key;
    this.port = Number(port);
    this.basePath = pathname;
    this.document = document;
    this.#soundness = new Soundness(document, operations, pathname);
  }

  /** A valid request of an operation, to be put differently. */
  valid(operation: Operation): RawRequest {
    return validRequest(operation, this.basePath, this.#keyFor(operation));
  }

  /** A key that may use the operation: one that nothing else uses, where 20 requests a minute are the limit. */
  #keyFor({ separateQuota }: Operation): string {
    if (separateQuota !== "sandbox") return this.key;
    const key = this.#freshKeys.pop();
    if (!key) throw new Error("There are no fresh keys left.");
    return key;
  }

  /** Creates keys of new accounts before they are needed. */
  async #refill(): Promise<void> {
    if (this.#freshKeys.length > BATCH) return;
    await (this.#refilling ??= this.#addKeys().finally(() => (this.#refilling = undefined)));
  }

  async #addKeys(): Promise<void> {
    const now = Date.now();
    const [accounts, keys] = [new AccountStore(this.#storage), new KeyStore(this.#storage, development)];
    const issued = Array.from({ length: BATCH }, async () => {
      const { id } = await accounts.createAccount("Hostile", "free", undefined, now);
      return keys.issueKey(id, "test", scopes, now);
    });
    for (const { key } of await Promise.all(issued)) this.#freshKeys.push(key);
  }

  /** A header line that makes the request come from an address that nothing else uses. */
  newAddress(): string {
    const number = this.#anonymousClients++;
    return `X-Forwarded-For: 10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  }

  /** Sends a request and tells what came back, as `outcomeOf` does. */
  async outcome(request: RawRequest, options: ExchangeOptions = {}): Promise<string> {
    return this.outcomeOfBytes(render(request), request, options);
  }

  /** Sends bytes and tells what came back. `method` and `target` are what the bytes ask for. */
  async outcomeOfBytes(
    pieces: string | Iterable<string>,
    { method, target }: { method: string; target: string },
    options: ExchangeOptions = {},
  ): Promise<string> {
    this.cases++;
    await this.#refill();
    const responses = await exchange(this.port, pieces, { isHead: method === "HEAD", ...options });
    const final = responses.filter(({ status }) => status >= 200);
    return final.map((response) => this.#describe(method, target, response)).join(", ") || "closed";
  }

  /** Sends a request by an ordinary client, checks the response and returns it. */
  async call(
    operation: Operation,
    { headers, body }: { headers?: Record<string, string>; body?: string | Uint8Array } = {},
  ) {
    this.cases++;
    await this.#refill();
    const { method } = operation;
    const path = pathOf(operation);
    const response = await fetch(this.program.base + path, {
      method,
      headers: { Authorization: `Bearer ${this.#keyFor(operation)}`, ...headers },
      ...(body === undefined ? {} : { body: body as string | Uint8Array<ArrayBuffer> }),
    });
    const received = { status: response.status, headers: response.headers, text: await response.text() };
    this.#soundness.check(method, this.basePath + path, received);
    return received;
  }

  /** How often an operation has accepted a request as valid, by the service's own count. */
  async accepted(operation: Operation): Promise<number> {
    const metrics = await metricsText(this.program.base);
    // A 400 does not tell an operation's own error from invalid input.
    const statuses = acceptedStatuses(operation)
      .filter((status) => status !== 400)
      .join("|");
    const lines = new RegExp(
      `^petstore_requests_total\\{operation="${operation.name}",status="(?:${statuses})"\\} ([0-9]+)$`,
      "gm",
    );
    return [...metrics.matchAll(lines)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Stops the program gracefully, and returns its status. */
  async end(): Promise<number> {
    await this.#storage.close();
    return this.program.end();
  }

  /** Resident memory of the process, in bytes. */
  memory(): number {
    const status = readFileSync(`/proc/${this.program.child.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** `201`, `400 invalid_request`, or, where the runtime's parser answered by itself, `bare 400`. */
  #describe(method: string, target: string, response: RawResponse): string {
    const { status, headers, text } = response;
    const isBare = text === "" && [...headers.keys()].every((name) => name === "connection");
    if (isBare && status >= 400) return `bare ${status}`;
    this.#soundness.check(method, target, response);
    if (status < 400 || method === "HEAD") return String(status);
    return `${status} ${(JSON.parse(text) as { code: string }).code}`;
  }
}
