import type { Input } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import { type FillPath, showsSecret } from "../../contract/operation-properties.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import { bearerToken } from "../input/request-headers.ts";

/** Characters stored of a digest: 132 bits. */
const DIGEST_LENGTH = 22;

/** What tells whether a request with an idempotency key repeats an earlier one. */
export type RequestIdentity = ReturnType<ReturnType<typeof compileIdentityReader>>;

/**
 * Compiles the function that identifies the requests of an operation. Two requests with the same content, as the
 * operation's schemas read it, have the same fingerprint.
 */
export function compileIdentityReader(operation: Operation, fillPath: FillPath) {
  const { method, query, body, ifMatch } = operation;
  const isSecret = showsSecret(operation);
  const writeQuery = query ? compileSerializer(query) : () => "";
  const writeBody = body ? compileSerializer(body.schema, "sorted") : () => "";
  return ({ headers }: Request, input: Input) => {
    const { accountId, mode } = input.caller;
    const key = input.idempotencyKey;
    const secret = isSecret ? `${bearerToken(headers.get("authorization"))}\n${key}` : "";
    const precondition = ifMatch ? (headers.get("if-match") ?? "") : "";
    return {
      /** Identifies the idempotency key together with its account, mode, method and path. */
      keyDigest: digest(`${accountId}\n${mode}\n${method} ${fillPath(input.params)}\n${key}`),
      /** Distinguishes the request from other requests with the same key. JSON has no line feed. */
      fingerprint: digest(`${key}\n${secret}\n${precondition}\n${writeQuery(input.query)}\n${writeBody(input.body)}`),
      /**
       * Encrypts the stored response if it shows a secret; otherwise empty. Only the client has this value, so no one with
       * access to the store can read a stored secret.
       */
      secret,
    };
  };
}

function digest(text: string): string {
  return Bun.SHA256.hash(text, "base64").slice(0, DIGEST_LENGTH);
}
