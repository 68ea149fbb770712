import type { ShopNumber } from "../../contract/caller.ts";
import { type Failure, failure, idempotencyKeyInUse, idempotencyKeyReused } from "../../contract/errors.ts";
import { type Committed, concludeChange, type Input, isResponse, type Success } from "../../contract/handler.ts";
import type { Change } from "../../contract/steps.ts";
import type { Clock } from "../../timing/clock.ts";
import { turns } from "../../timing/turns.ts";
import type { CompiledChange } from "../compiled-operation.ts";
import type { Exchange } from "../exchange.ts";
import type { Store, StoredResponse, StoredResponses } from "../interfaces.ts";
import type { Rendered } from "../response/response.ts";
import type { RequestIdentity } from "./request-identity.ts";
import { mustBeStored, parseResponse, serializeResponse } from "./stored-response.ts";

/** The response that a request with an idempotency key has made, or what is stored for its key. */
interface Made {
  readonly response: Rendered | Failure;
}
interface Stored {
  readonly stored: StoredResponse;
}

export type Changes = ReturnType<typeof openChanges>;

/**
 * Returns what runs the changes that requests ask for. The response to a request with an idempotency key is stored in the
 * transaction of the change, so a repeated request does nothing twice. A key belongs to one account, mode, method and path.
 */
export function openChanges(responses: StoredResponses, store: Store, clock: Clock) {
  /** Digests of the keys of requests with open transactions, including requests whose response was already late. */
  const running = new Set<string>();

  function serve(exchange: Exchange, compiled: CompiledChange, input: Input): Promise<Rendered | Failure> {
    const { identityOf } = compiled;
    const identity = input.idempotencyKey === undefined ? undefined : identityOf?.(exchange.request, input);
    return identity ? serveOnce(exchange, compiled, identity, input) : serveEach(compiled, input);
  }

  /** Serves a request without an idempotency key. Its response is rendered after the commit, which then takes less time. */
  async function serveEach(compiled: CompiledChange, input: Input): Promise<Rendered | Failure> {
    const { shop } = input.caller;
    const outcome = await store.write(await prepare(compiled, input), shop);
    const response = isResponse(outcome) ? outcome : await concludeChange(compiled, input);
    return turns.run(shop, () => compiled.render(response, input));
  }

  /** Returns the transaction of a change, when its preparation is done. */
  async function prepare(compiled: CompiledChange, input: Input) {
    const preparation = compiled.prepare && (await store.read(compiled.prepare(input), input.caller.shop));
    return () => compiled.change(input, preparation);
  }

  /** Serves a request with an idempotency key. Sets `isReplay` of the exchange if the outcome is a stored one. */
  async function serveOnce(
    exchange: Exchange,
    compiled: CompiledChange,
    identity: RequestIdentity,
    input: Input,
  ): Promise<Rendered | Failure> {
    const { operation, render } = compiled;
    const { shop } = input.caller;
    const { keyDigest, fingerprint, secret } = identity;
    if (running.has(keyDigest)) {
      const message = "A request with this Idempotency-Key is still running. Repeat it to get its response.";
      return failure(idempotencyKeyInUse, message);
    }

    running.add(keyDigest);
    try {
      const done = await runOnce(compiled, identity, input);
      if ("response" in done) return done.response;
      const { stored } = done;
      if (stored.fingerprint !== fingerprint) return reused(secret !== "");
      if (stored.response !== "") {
        exchange.isReplay = true;
        return parseResponse(stored.response, identity, operation);
      }
      // The change is committed, by this request or an earlier one, but no response has been sent.
      const outcome = await concludeChange(compiled, input);
      const response = render(outcome, input);
      const text = serializeResponse(response, identity);
      await store.write(() => responses.complete(storedIn(outcome, shop), keyDigest, text), shop);
      return response;
    } finally {
      running.delete(keyDigest);
    }
  }

  /**
   * Runs the change and stores its response, in one transaction, or returns the stored response. That of a change that
   * must be concluded is empty.
   */
  async function runOnce(compiled: CompiledChange, identity: RequestIdentity, input: Input): Promise<Made | Stored> {
    const now = clock.now();
    const { shop } = input.caller;
    const { keyDigest, fingerprint } = identity;
    const find = () => store.read(responses.find(shop, keyDigest), shop);
    const known = await find();
    if (known) return { stored: known };
    const change = await prepare(compiled, input);
    const changeAndStore = function* (): Change<Made | Stored> {
      const outcome = yield* change();
      const response = isResponse(outcome) ? compiled.render(outcome, input) : undefined;
      if (response && !mustBeStored(response)) return { response };
      const stored = { fingerprint, response: response ? serializeResponse(response, identity) : "" };
      const isFirst = yield* responses.add(storedIn(outcome, shop), keyDigest, stored, now);
      if (!isFirst) throw storedByAnother; // and the change is undone
      return response ? { response } : { stored };
    };
    for (;;) {
      try {
        return await store.write(changeAndStore, shop);
      } catch (error) {
        if (error !== storedByAnother) throw error;
      }
      const stored = await find();
      if (stored) return { stored };
    }
  }

  return { serve };
}

/** The shop that has the stored response: a reset has made a new one. */
function storedIn(outcome: Success | Failure | Committed, shop: ShopNumber): ShopNumber {
  return "shop" in outcome ? (outcome.shop ?? shop) : shop;
}

const storedByAnother = new Error("Another process has stored a response to a request with this Idempotency-Key.");

function reused(isSecret: boolean): Failure {
  const what = isSecret ? "body, query, If-Match or API key" : "body, query or If-Match";
  return failure(
    idempotencyKeyReused,
    `This Idempotency-Key was already used with a different ${what}. Use a new key for a new request.`,
  );
}
