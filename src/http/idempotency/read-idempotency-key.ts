import type { TSchema } from "typebox";
import type { Fault } from "../../contract/errors.ts";
import { IDEMPOTENCY_KEY, IdempotencyKey } from "../../contract/requests.ts";
import { PATTERN_MEANING } from "../../contract/schemas.ts";

export type IdempotencyKeyResult = { readonly value: string | undefined } | { readonly faults: Fault[] };

const { pattern, [PATTERN_MEANING]: meaning } = IdempotencyKey as TSchema as Readonly<Record<string, string>>;
const form = new RegExp(pattern as string);
const fault: Fault = {
  path: `/header/${IDEMPOTENCY_KEY}`,
  message: `must hold ${meaning}`,
};

/** The result for a request without the header. */
export const noIdempotencyKey: IdempotencyKeyResult = { value: undefined };

/** Reads the `Idempotency-Key` header: the content of a structured-field string (RFC 9651), or a bare text. */
export function readIdempotencyKey({ headers }: Request): IdempotencyKeyResult {
  const text = headers.get(IDEMPOTENCY_KEY);
  if (text === null) return noIdempotencyKey;
  if (!form.test(text)) return { faults: [fault] }; // a repeated header too: the runtime joins both with a comma and a space
  return { value: text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : text };
}
