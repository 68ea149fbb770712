import type { ErrorDefinition, Failure } from "../../contract/errors.ts";
import type { Success } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import type { RenderedBody } from "../response/rendered-body.ts";

/**
 * A stored response: a failure, or a success that is already rendered, so that a replay is identical byte for byte. The
 * names of its fields must not change: the next release must read what this one stored.
 */
interface StoredFields {
  readonly ready?: RenderedBody;
  readonly failure?: Pick<Failure, "message" | "details" | "retryAfter"> & Pick<ErrorDefinition, "code" | "status">;
}

/** False for temporary failures (429 and 5xx), and for a 401, after which the client may retry with another key. */
export function mustBeStored(outcome: Success | Failure): boolean {
  if (!("error" in outcome)) return true;
  const { status } = outcome.error;
  return status < 500 && status !== 429 && status !== 401;
}

/** Serializes the response of an outcome for the store. */
export function serializeResponse(outcome: Failure | { readonly rendered: RenderedBody }): string {
  if ("error" in outcome) {
    const { error, message, details, retryAfter } = outcome;
    return JSON.stringify({ failure: { code: error.code, status: error.status, message, details, retryAfter } });
  }
  return JSON.stringify({ ready: outcome.rendered } satisfies StoredFields);
}

/** Parses a stored response of the operation. */
export function parseResponse(
  text: string,
  { errors }: Operation,
): Failure | { readonly rendered: RenderedBody | undefined } {
  const { ready, failure } = JSON.parse(text) as StoredFields;
  if (!failure) return { rendered: ready };
  const { code, status, message, details, retryAfter } = failure;
  // An earlier release may have stored an error that this one no longer has.
  const error = errors.find((one) => one.code === code) ?? { code, status, meaning: "" };
  return { error, message, ...(details && { details }), ...(retryAfter !== undefined && { retryAfter }) };
}
