import { type Failure, failure, idempotencyKeyInUse, idempotencyKeyReused } from "../../contract/errors.ts";
import { type Input, requireDeclared } from "../../contract/handler.ts";
import type { Transaction } from "../../contract/transaction.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock, ExpiryClock } from "../../timing/clock.ts";
import type { CompiledOperation } from "../compiled-operation.ts";
import type { Exchange } from "../exchange.ts";
import type { Store, StoredResponse, StoredResponses } from "../interfaces.ts";
import type { Rendered } from "../response/response.ts";
import type { RequestIdentity } from "./request-identity.ts";
import { mustBeStored, parseResponse, serializeResponse } from "./stored-response.ts";

interface IdempotencyServices {
  readonly clock: Clock;
  readonly expiry: ExpiryClock;
  readonly metrics: Metrics;
}

/**
 * Serves requests that have an idempotency key. The response is stored in the transaction of the change, so a repeated
 * request does nothing twice. A key belongs to one account, mode, method and path.
 */
export class Idempotency {
  readonly #responses: StoredResponses;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #expiry: ExpiryClock;
  /** Digests of the keys of requests with open transactions, including requests whose response was already late. */
  readonly #running = new Set<string>();

  constructor(responses: StoredResponses, store: Store, { clock, expiry, metrics }: IdempotencyServices) {
    this.#responses = responses;
    this.#store = store;
    this.#clock = clock;
    this.#expiry = expiry;
    metrics.gauge(
      "petstore_idempotent_requests_running",
      "Requests in progress that have an idempotency key.",
      () => this.#running.size,
    );
  }

  /** Sets `isReplay` of the exchange if the outcome is a stored one. */
  async serve(
    exchange: Exchange,
    compiled: CompiledOperation,
    identity: RequestIdentity,
    input: Input,
  ): Promise<Rendered | Failure> {
    const { operation, handle, settle, render } = compiled;
    const { shop } = input.caller;
    const { keyDigest, fingerprint, secret } = identity;
    if (this.#running.has(keyDigest)) {
      const message = "A request with this Idempotency-Key is still running. Repeat it to get its response.";
      return failure(idempotencyKeyInUse, message);
    }

    const responses = this.#responses;
    const times = { now: this.#clock.now(), expiry: this.#expiry.now() };
    /** Runs the change and stores its response, or returns the stored response, in one transaction. */
    function* once(): Transaction<StoredResponse | Rendered | Failure> {
      const known = yield* responses.claim(shop, keyDigest, fingerprint, times);
      if (known) return known;
      const outcome = requireDeclared(yield* responses.withoutCommit(handle(input)), operation);
      const response = "error" in outcome ? outcome : render(outcome, input);
      if (mustBeStored(response)) {
        yield* responses.store(shop, keyDigest, serializeResponse(response, identity));
        if ("body" in outcome && outcome.shop !== undefined) yield* responses.move(shop, keyDigest, outcome.shop);
      } else yield* responses.release(shop, keyDigest);
      return response;
    }
    this.#running.add(keyDigest);
    try {
      const result = await this.#store.write(once);
      const isReplay = "fingerprint" in result;
      if (isReplay && result.fingerprint !== fingerprint) return reused(secret !== "");
      const response = isReplay ? parseResponse(result.response, identity, operation) : result;
      if (!("error" in response)) await settle?.(input);
      // Only now: if `settle` fails, its failure is not a stored one.
      exchange.isReplay = isReplay;
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
