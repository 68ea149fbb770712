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
    const { operation, conclude, render } = compiled;
    const { shop } = input.caller;
    const { keyDigest, fingerprint, secret } = identity;
    if (this.#running.has(keyDigest)) {
      const message = "A request with this Idempotency-Key is still running. Repeat it to get its response.";
      return failure(idempotencyKeyInUse, message);
    }

    this.#running.add(keyDigest);
    try {
      const known = await this.#runOnce(compiled, identity, input);
      if (!("fingerprint" in known)) return known;
      if (known.fingerprint !== fingerprint) return reused(secret !== "");
      if (known.response !== "" || !conclude) {
        exchange.isReplay = true;
        return parseResponse(known.response, identity, operation);
      }
      // The change is committed, by this request or an earlier one, but no response has been sent.
      const outcome = await conclude(input);
      const response = render(outcome, input);
      const storedIn = "shop" in outcome ? (outcome.shop ?? shop) : shop;
      const text = serializeResponse(response, identity);
      await this.#store.write(() => this.#responses.complete(storedIn, keyDigest, text), shop);
      return response;
    } finally {
      this.#running.delete(keyDigest);
    }
  }

  /**
   * Runs the change and stores its response, in one transaction, or returns the stored response. That of a change that
   * must be settled is empty.
   */
  async #runOnce(
    { prepare, change, conclude, render }: CompiledChange,
    identity: RequestIdentity,
    input: Input,
  ): Promise<Rendered | Failure | StoredResponse> {
    const [responses, now] = [this.#responses, this.#clock.now()];
    const { shop } = input.caller;
    const { keyDigest, fingerprint } = identity;
    let preparation: unknown;
    function* once(): Change<Rendered | Failure | StoredResponse> {
      const outcome = yield* responses.withoutCommit(change(input, preparation));
      const isOpen = conclude && !isResponse(outcome);
      const result = isOpen ? { fingerprint, response: "" } : render(outcome, input);
      if (!("fingerprint" in result) && !mustBeStored(result)) return result;
      const stored = "fingerprint" in result ? result : { fingerprint, response: serializeResponse(result, identity) };
      const storedIn = "shop" in outcome ? (outcome.shop ?? shop) : shop;
      if (!(yield* responses.add(storedIn, keyDigest, stored, now))) throw storedByAnother; // and the change is undone
      return result;
    }
    for (;;) {
      const known = await this.#store.read(responses.find(shop, keyDigest), shop);
      if (known) return known;
      preparation ??= prepare && (await this.#store.read(prepare(input), shop));
      try {
        return await this.#store.write(once, shop);
      } catch (error) {
        if (error !== storedByAnother) throw error;
      }
    }
  }
}

const storedByAnother = new Error("Another process has stored a response to a request with this Idempotency-Key.");

function reused(isSecret: boolean): Failure {
  const what = isSecret ? "body, query, If-Match or API key" : "body, query or If-Match";
  return failure(
    idempotencyKeyReused,
    `This Idempotency-Key was already used with a different ${what}. Use a new key for a new request.`,
  );
}
