import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import {
  type ErrorDefinition,
  type Failure,
  failure,
  idempotencyKeyInUse,
  idempotencyKeyReused,
} from "../../contract/errors.ts";
import { type Committed, concludeChange, type Input, isResponse, type Success } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Change } from "../../contract/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import type { CompiledChange } from "../compiled-operation.ts";
import type { Exchange } from "../exchange.ts";
import type { Store, StoredResponse, StoredResponses } from "../interfaces.ts";
import type { Rendered } from "../response/response.ts";
import type { RequestIdentity } from "./request-identity.ts";

export type Idempotency = ReturnType<typeof openIdempotency>;

/**
 * Returns what serves requests that have an idempotency key. The response is stored in the transaction of the change, so a
 * repeated request does nothing twice. A key belongs to one account, mode, method and path.
 */
export function openIdempotency(responses: StoredResponses, store: Store, clock: Clock) {
  /** Digests of the keys of requests with open transactions, including requests whose response was already late. */
  const running = new Set<string>();

  /** Sets `isReplay` of the exchange if the outcome is a stored one. */
  async function serve(
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
      const known = await runOnce(compiled, identity, input);
      if (!("fingerprint" in known)) return known;
      if (known.fingerprint !== fingerprint) return reused(secret !== "");
      if (known.response !== "") {
        exchange.isReplay = true;
        return parseResponse(known.response, identity, operation);
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
  async function runOnce(
    { prepare, change, render }: CompiledChange,
    identity: RequestIdentity,
    input: Input,
  ): Promise<Rendered | Failure | StoredResponse> {
    const now = clock.now();
    const { shop } = input.caller;
    const { keyDigest, fingerprint } = identity;
    let preparation: unknown;
    function* keepResponse(outcome: Success | Failure | Committed): Change<Rendered | Failure | StoredResponse> {
      const result = isResponse(outcome) ? render(outcome, input) : { fingerprint, response: "" };
      if (!("fingerprint" in result) && !mustBeStored(result)) return result;
      const stored = "fingerprint" in result ? result : { fingerprint, response: serializeResponse(result, identity) };
      const isFirst = yield* responses.add(storedIn(outcome, shop), keyDigest, stored, now);
      if (!isFirst) throw storedByAnother; // and the change is undone
      return result;
    }
    const once = () => responses.around(change(input, preparation), keepResponse);
    for (;;) {
      const known = await store.read(responses.find(shop, keyDigest), shop);
      if (known) return known;
      preparation ??= prepare && (await store.read(prepare(input), shop));
      try {
        return await store.write(once, shop);
      } catch (error) {
        if (error !== storedByAnother) throw error;
      }
    }
  }

  return { serve };
}

/** The shop that has the stored response: a reset has made a new one. */
function storedIn(outcome: Success | Failure | Committed, shop: number): number {
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

const CIPHER = "aes-256-gcm";
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];

/**
 * A stored response: a failure, or a success that is already rendered, so that a replay is identical byte for byte. The
 * names of its fields must not change: the next release must read what this one stored.
 */
type StoredFields =
  | { readonly ready: Rendered }
  | { readonly failure: Pick<ErrorDefinition, "code" | "status"> & Omit<Failure, "error"> };

/** False for temporary failures (429 and 5xx), and for a 401, after which the client may retry with another key. */
function mustBeStored(outcome: Rendered | Failure): boolean {
  if (!("error" in outcome)) return true;
  const { status } = outcome.error;
  return status < 500 && status !== 429 && status !== 401;
}

/** Serializes the response of an outcome for the store. It is encrypted if the request has a secret. */
function serializeResponse(outcome: Rendered | Failure, { secret, keyDigest }: RequestIdentity): string {
  let fields: StoredFields;
  if ("error" in outcome) {
    const { error, ...rest } = outcome;
    fields = { failure: { code: error.code, status: error.status, ...rest } };
  } else fields = { ready: outcome };
  const text = JSON.stringify(fields);
  return secret === "" ? text : seal(text, secret, keyDigest);
}

/** Parses a stored response to a request of the operation. */
function parseResponse(
  stored: string,
  { secret, keyDigest }: RequestIdentity,
  { errors }: Operation,
): Rendered | Failure {
  const text = secret === "" ? stored : unseal(stored, secret, keyDigest);
  const fields = JSON.parse(text) as StoredFields;
  if ("ready" in fields) return fields.ready;
  const { code, status, ...rest } = fields.failure;
  // An earlier release may have stored an error that this one no longer has.
  const error = errors.find((one) => one.code === code) ?? { code, status, meaning: "" };
  return { error, ...rest };
}

/**
 * Encrypts and authenticates a text with AES-256-GCM (NIST SP 800-38D). HKDF with SHA-256 (RFC 5869) derives
 * the key from the secret. `purpose` is public. A text sealed for one purpose cannot be opened for another.
 */
function seal(text: string, secret: string, purpose: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyFor(secret, purpose), nonce);
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Opens what `seal` has sealed. Throws an error for another secret or purpose, and for a text that was changed. */
function unseal(sealed: string, secret: string, purpose: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(CIPHER, keyFor(secret, purpose), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

function keyFor(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, KEY_BYTES));
}
