import type { Input } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import { compileSerializer, type Serializer } from "../../contract/serialize.ts";
import { compileFillPath } from "../fill-path.ts";

/** The canonical form of a request, by which idempotency compares it: equal for two requests with the same content. */
export interface CanonicalRequest {
  /** The method, and the path with its parameters. */
  readonly target: (input: Input) => string;
  /** The parsed query and body, without differences in spaces and the order of fields. */
  readonly content: (input: Input) => string;
  /** The same, but with names that the client chose in the order of the request: the form of release 1.0.0. */
  readonly contentAsSent: (input: Input) => string;
}

export function compileCanonicalRequest({ method, path, query, body }: Operation): CanonicalRequest {
  const fillPath = compileFillPath(path);
  const writeQuery = query ? compileSerializer(query) : () => "";
  const contentWith = (writeBody: Serializer) => (input: Input) =>
    `${writeQuery(input.query)}\n${writeBody(input.body)}`; // JSON has no bare line feed
  return {
    target: ({ params }) => `${method} ${fillPath(params)}`,
    content: contentWith(body ? compileSerializer(body.schema, "sorted") : () => ""),
    contentAsSent: contentWith(body ? compileSerializer(body.schema) : () => ""),
  };
}
