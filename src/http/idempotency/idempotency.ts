import { type Failure, failure, idempotencyKeyInUse, idempotencyKeyReused } from "../../contract/errors.ts";
import { type Input, isResponse } from "../../contract/handler.ts";
import type { Change } from "../../contract/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import type { CompiledChange } from "../compiled-operation.ts";
import type { Exchange } from "../exchange.ts";
import type { Store, StoredResponse, StoredResponses } from "../interfaces.ts";
import type { Rendered } from "../response/response.ts";
import type { RequestIdentity } from "./request-identity.ts";
import { mustBeStored, parseResponse, serializeResponse } from "./stored-response.ts";

/**
 * Serves requests that have an idempotency key. The response is stored in the transaction of the change, so a repeated
 * request does nothing twice. A key belongs to one account, mode, method and path.
 */
export class Idempotency {
  readonly #responses: StoredResponses;
  readonly #store: Store;
  readonly #clock: Clock;
  /** Digests of the keys of requests with open transactions, including requests whose response was already late. */
  readonly #running = new Set<string>();

  constructor(responses: StoredResponses, store: Store, clock: Clock) {
    this.#responses = responses;
    this.#store = store;
    this.#clock = clock;
  }

  /** Sets `isReplay` of the exchange if the outcome is a stored one. */
  async serve(
    exchange: Exchange,
    compiled: CompiledChange,
    identity: RequestIdentity,
    input: Input,
  ): Promise<Rendered | Failure> {
    const { operation, change, settle, render } = compiled;
    const { shop } = input.caller;
    const { keyDigest, fingerprint, secret } = identity;
    if (this.#running.has(keyDigest)) {
      const message = "A request with this Idempotency-Key is still running. Repeat it to get its response.";
      return failure(idempotencyKeyInUse, message);
    }

    const responses = this.#responses;
    const now = this.#clock.now();
    /** Runs the change and stores its response, or returns the stored response, in one transaction. */
    function* once(): Change<StoredResponse | Rendered | Failure> {
      const known = yield* responses.claim(shop, keyDigest, fingerprint, now);
      if (known) return known;
      const outcome = yield* responses.withoutCommit(change(input));
      if (settle && !isResponse(outcome)) {
        if ("shop" in outcome && outcome.shop !== undefined) yield* responses.move(shop, keyDigest, outcome.shop);
        return { fingerprint, response: "" };
      }
      const response = render(outcome, input);
      if (mustBeStored(response)) yield* responses.store(shop, keyDigest, serializeResponse(response, identity));
      else yield* responses.release(shop, keyDigest);
      return response;
    }
    this.#running.add(keyDigest);
    try {
      const result = await this.#store.write(once, shop);
      if (!("fingerprint" in result)) return result;
      if (result.fingerprint !== fingerprint) return reused(secret !== "");
      if (result.response !== "" || !settle) {
        exchange.isReplay = true;
        return parseResponse(result.response, identity, operation);
      }
      // The change is committed, by this request or an earlier one, but no response has been sent.
      const outcome = await settle(input);
      const response = render(outcome, input);
      const storedIn = "shop" in outcome ? (outcome.shop ?? shop) : shop;
      await this.#store.write(() => responses.store(storedIn, keyDigest, serializeResponse(response, identity)), shop);
      return response;
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
