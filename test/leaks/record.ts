// Loaded before all tests: keeps every key that they make and everything that the services under test
// say, whichever way a test asks. When the run has ended, it is searched for what must not be in it.
import { App } from "../../src/app/app.ts";
import { domains } from "../../src/app/domains.ts";
import { showsSecret } from "../../src/contract/operation-properties.ts";
import { KeyStore } from "../../src/domains/keys/keys.store.ts";
import type { IssuedKey } from "../../src/domains/keys/keys.ts";
import type { Query } from "../../src/storage/transaction.ts";
import { type Evidence, evidence } from "../harness/evidence.ts";

/** A longer body is a file of another project: the bundle of the reference page. */
const MAX_BODY = 1_000_000;
const toApiKeyBody = /psk_[a-z]+_\w{38}/g;
/** How long the metrics of a service may take that is stopped because it hangs, in milliseconds. */
const MAX_WAIT_MS = 1_000;

if (evidence) {
  recordKeys(evidence);
  recordResponses(evidence);
  recordBytes(evidence);
  recordProcesses(evidence);
  recordMetrics();
}

/** The keys that any method of the store of keys issues, also as a part of a transaction. */
function recordKeys(to: Evidence): void {
  const methods = KeyStore.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of Object.getOwnPropertyNames(methods).filter((one) => one !== "constructor")) {
    const method = methods[name] as (...given: unknown[]) => unknown;
    methods[name] = function (...given) {
      const result = method.apply(this, given);
      if (result instanceof Promise) result.then((issued) => recordKey(issued, to)).catch(() => {});
      return isTransaction(result) ? recordStep(result, to) : result;
    };
  }
}

function recordKey(issued: unknown, to: Evidence): void {
  const key = (issued as Partial<IssuedKey> | undefined)?.key;
  if (typeof key === "string") to.key(key);
}

function isTransaction(result: unknown): result is Query<unknown> {
  return typeof result === "object" && result !== null && Symbol.iterator in result && "next" in result;
}

function* recordStep(step: Query<unknown>, to: Evidence): Query<unknown> {
  const result = yield* step;
  recordKey(result, to);
  return result;
}

const secretResponses = domains
  .flatMap(({ operations }) => operations)
  .filter(showsSecret)
  .map(({ method, path, response }) => ({
    method,
    status: response.status,
    path: new RegExp(`${path.replaceAll(/\{[^}]*\}/g, "[^/?]+")}(\\?|$)`),
  }));

/** True for a response that shows a key because the contract says so. */
function isSecret(url: string, method: string | undefined, status: number): boolean {
  return secretResponses.some((one) => one.method === method && one.status === status && one.path.test(url));
}

/** The keys that are sent by `fetch`, also wrong ones, and what comes back: keys that are shown on purpose, and all else. */
function recordResponses(to: Evidence): void {
  const original = globalThis.fetch;
  const recording = async (...given: Parameters<typeof fetch>): Promise<Response> => {
    const [, key] =
      /^Bearer (psk_[a-z]+_\w{38,})$/.exec(new Headers(given[1]?.headers).get("authorization") ?? "") ?? [];
    if (key) to.key(key);
    const response = await original(...given);
    const { status, headers } = response;
    to.response(`${status}\n${[...headers].map((header) => header.join(": ")).join("\n")}`);
    if (Number(headers.get("content-length") ?? MAX_BODY) < MAX_BODY) {
      // What is cut off by the end of a service is no response.
      response
        .clone()
        .text()
        .then((text) => {
          if (!isSecret(response.url, given[1]?.method, status)) return to.response(text);
          for (const [shown] of text.matchAll(toApiKeyBody)) to.key(shown);
          return to.response(text.replaceAll(toApiKeyBody, ""));
        })
        .catch(() => {});
    }
    return response;
  };
  globalThis.fetch = Object.assign(recording, original);
}

/** What comes over connections that tests open themselves. */
function recordBytes(to: Evidence): void {
  const original = Bun.connect;
  Bun.connect = ((options: Bun.TCPSocketConnectOptions) => {
    const { socket: handlers } = options;
    let received = "";
    return original({
      ...options,
      socket: {
        ...handlers,
        data: (socket, bytes) => {
          received += bytes.toString("latin1");
          return handlers.data?.(socket, bytes);
        },
        close: (socket, error) => {
          to.response(received);
          return handlers.close?.(socket, error);
        },
      },
    });
  }) as typeof Bun.connect;
}

/** What processes write whose output a test reads. */
function recordProcesses(to: Evidence): void {
  const original = Bun.spawn;
  Bun.spawn = ((command: string[], options: Parameters<typeof Bun.spawn>[1]) => {
    const child = original(command, options);
    if (!Array.isArray(command)) return child; // of node:child_process, which reads from a handle of the stream
    for (const name of ["stdout", "stderr"] as const) {
      const stream = child[name];
      if (stream instanceof ReadableStream)
        Object.defineProperty(child, name, { value: tap(stream, to.process(command)) });
    }
    return child;
  }) as typeof Bun.spawn;
}

/** The same stream, read no earlier than before; what passes through it is told. */
function tap(stream: ReadableStream<Uint8Array>, tell: (text: string) => void): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return stream.pipeThrough(
    new TransformStream({
      transform: (bytes: Uint8Array, controller) => {
        tell(decoder.decode(bytes, { stream: true }));
        controller.enqueue(bytes);
      },
    }),
  );
}

/** The metrics of each service that runs inside the tests, at its end: asking for them records them. */
function recordMetrics(): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its receiver
  const original = App.prototype.stop;
  App.prototype.stop = async function (this: App) {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    await fetch(`http://127.0.0.1:${this.port}/metrics`, { signal }).catch(() => {});
    await original.call(this);
  };
}
