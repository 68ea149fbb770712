import type { Operation } from "../../contract/operation.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import { entityTag, matchesIfMatch } from "../response/entity-tag.ts";

/** Whether a resource is still what the client expects. */
type Matches = (current: unknown) => boolean;

const always: Matches = () => true;

/**
 * Compiles the reader of `If-Match` (RFC 9110, section 13.1.1); undefined for an operation that does
 * not support it. The condition that it returns is evaluated inside the transaction.
 */
export function compilePrecondition({ ifMatch }: Operation): ((headers: Headers) => Matches) | undefined {
  if (!ifMatch) return undefined;
  const serialize = compileSerializer(ifMatch);
  return (headers) => {
    const expected = headers.get("if-match");
    return expected === null ? always : (current) => matchesIfMatch(expected, entityTag(serialize(current)));
  };
}
