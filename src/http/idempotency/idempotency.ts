import type { Change } from "../../contract/change.ts";
import { type Failure, failure, idempotencyKeyInUse, idempotencyKeyReused } from "../../contract/errors.ts";
import type { Input, Success, Write } from "../../contract/handler.ts";
import type { Clock } from "../../timing/clock.ts";
import { requireDeclared } from "../compiled-operation.ts";
import type { Exchange } from "../exchange.ts";
import { bearerToken } from "../input/bearer-token.ts";
import type { StoredResponse, StoredResponses } from "../interfaces.ts";
import { seal, unseal } from "./sealed-text.ts";
import { mustBeStored, parseResponse, serializeResponse } from "./stored-response.ts";

/** Characters stored of a digest: 132 bits. */
const DIGEST_LENGTH = 22;

/**
 * Serves requests that have an idempotency key. The response is stored in the transaction of the change, so a repeated
 * request does nothing twice. A key belongs to one account, mode, method and path.
 */
export class Idempotency {
  readonly #responses: StoredResponses;
  readonly #write: Write;
  readonly #clock: Clock;
  /** Digests of the keys of requests with open transactions, including requests whose response was already late. */
  readonly #running = new Set<string>();

  constructor(responses: StoredResponses, write: Write, clock: Clock) {
    this.#responses = responses;
    this.#write = write;
    this.#clock = clock;
  }

  /** The number of requests with open transactions. */
  get running(): number {
    return this.#running.size;
  }

  /** Serves a request with an idempotency key. Sets `isReplay` of the exchange if the outcome is a stored one. */
  async serve(exchange: Exchange, input: Input): Promise<Success | Failure> {
    const { operation: compiled, caller, request } = exchange;
    if (!compiled?.canonicalRequest || !caller)
      throw new TypeError("An Idempotency-Key was read for an operation that takes none.");
    const { operation, canonicalRequest } = compiled;
    const { accountId, mode, shop } = caller;
    const key = input.idempotencyKey as string;
    // Only the client has this value, so no one with access to the store can read a stored secret.
    const secret = operation.response.secret ? `${bearerToken(request.headers.get("authorization"))}\n${key}` : "";
    const keyDigest = digest(`${accountId}\n${mode}\n${canonicalRequest.target(input)}\n${key}`);
    // Without the header, the text must be the one of release 1.0.0, whose responses may still be stored: `null` where
    // there is a body, and empty where there is none, because 1.0.0 ignored the header there.
    const ifMatch = operation.ifMatch ? (request.headers.get("if-match") ?? (operation.body ? null : "")) : "";
    const fingerprintOf = (content: string) => digest(`${key}\n${secret}\n${ifMatch}\n${content}`);
    const fingerprint = fingerprintOf(canonicalRequest.content(input));
    if (this.#running.has(keyDigest)) {
      const message = "A request with this Idempotency-Key is still running. Repeat it to get its response.";
      return failure(idempotencyKeyInUse, message);
    }

    const responses = this.#responses;
    const serialize = (outcome: Success | Failure) =>
      serializeResponse(
        "error" in outcome ? outcome : { rendered: (exchange.rendered = compiled.render(outcome, input)) },
      );
    const now = this.#clock.now();
    /** Runs the change and stores its response, or returns the stored response, in one transaction. */
    function* once(change: () => Change<Success | Failure>): Change<StoredResponse | Success | Failure> {
      const known = yield* responses.claim(shop, keyDigest, fingerprint, now);
      if (known) return known;
      const outcome = yield* responses.nested(change());
      if ("error" in outcome) requireDeclared(outcome, operation);
      if (mustBeStored(outcome)) {
        const text = serialize(outcome);
        yield* responses.store(shop, keyDigest, secret === "" ? text : seal(text, secret, keyDigest));
        if ("body" in outcome && outcome.shop !== undefined) yield* responses.move(shop, keyDigest, outcome.shop);
      } else yield* responses.release(shop, keyDigest);
      return outcome;
    }
    this.#running.add(keyDigest);
    try {
      return await compiled.serve(input, async (change) => {
        const outcome = await this.#write(() => once(change));
        if (!("fingerprint" in outcome)) return outcome;
        if (outcome.fingerprint !== fingerprint) {
          // Release 1.0.0 may have stored the response.
          const isSame = outcome.fingerprint === fingerprintOf(canonicalRequest.contentAsSent(input));
          if (!isSame) return reused(secret !== "");
        }
        exchange.isReplay = true;
        const { response } = outcome;
        const stored = parseResponse(secret === "" ? response : unseal(response, secret, keyDigest), operation);
        if ("error" in stored) return stored;
        exchange.rendered = stored.rendered;
        return { body: undefined };
      });
    } finally {
      this.#running.delete(keyDigest);
    }
  }
}

function reused(isSecret: boolean): Failure {
  const what = isSecret ? "body, query, If-Match or API key" : "body, query or If-Match";
  return failure(
    idempotencyKeyReused,
    `This Idempotency-Key was already used with a different ${what}. Use a new key for a new request.`,
  );
}

function digest(text: string): string {
  return Bun.SHA256.hash(text, "base64").slice(0, DIGEST_LENGTH);
}
