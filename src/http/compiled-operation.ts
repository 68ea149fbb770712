import { type BoundOperation, type Deprecation, dateToUnixSeconds, type Operation } from "../contract/operation.ts";
import { compilePath } from "./fill-path.ts";
import { sharedHeaders } from "./headers.ts";
import { compilePageLinks, type PageLinks } from "./page-links.ts";
import { compileInputReader, type InputReader } from "./read-input.ts";
import { compileSerializer, type Serializer } from "./serialize.ts";

/** The addresses that answers refer to. */
export interface Addresses {
  /** Base address of the interface, without a slash at the end: `https://api.example.org/v1`. */
  readonly base: string;
  /** Where the reference page shows an operation. */
  readonly documentation: (operation: Operation) => string;
}

/** An operation with all that is worth preparing once, at the start. */
export interface CompiledOperation extends BoundOperation {
  /** For an operation that is read page by page. */
  readonly pages: PageLinks | undefined;
  readonly readInput: InputReader;
  readonly serialize: Serializer;
  /** The path of the resource that a success made, below the base address; undefined for none. */
  readonly location: ((body: Readonly<Record<string, unknown>>) => string) | undefined;
  /** True if a success has an entity tag, by which a client can ask whether it has changed. */
  readonly isCacheable: boolean;
  /** From this moment on the operation answers 410, in unix milliseconds. */
  readonly removedFrom: number;
  /** What every success carries; each answer sets its own values in it before it is copied. */
  readonly successHeaders: Headers;
  /** What every failure carries. */
  readonly failureHeaders: Headers;
  /** The part of `Link` that every answer of a deprecated operation has; otherwise empty. */
  readonly deprecationLink: string;
}

export function compileOperation(
  bound: BoundOperation,
  operations: readonly Operation[],
  addresses: Addresses,
): CompiledOperation {
  const { operation } = bound;
  const { deprecation } = operation;
  const link = deprecation ? deprecationLink(operation, deprecation.replacement, operations, addresses) : "";
  const headers = new Headers({ ...sharedHeaders, ...(deprecation ? deprecationHeaders(deprecation) : {}) });
  if (link !== "") headers.set("Link", link);
  if (operation.answer.status !== 204) headers.set("Content-Type", "application/json");
  const pages = compilePageLinks(operation, addresses.base);
  const failureHeaders = new Headers(headers);
  failureHeaders.set("Content-Type", "application/json");
  return {
    ...bound,
    pages,
    readInput: compileInputReader(operation, pages),
    serialize: compileSerializer(operation.answer.schema),
    location: operation.answer.location === undefined ? undefined : compilePath(operation.answer.location),
    isCacheable: operation.method === "GET" && operation.answer.status === 200,
    removedFrom: deprecation ? dateToUnixSeconds(deprecation.removal) * 1000 : Number.POSITIVE_INFINITY,
    successHeaders: headers,
    failureHeaders,
    deprecationLink: link,
  };
}

function deprecationHeaders({ since, removal }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${dateToUnixSeconds(since)}`, // RFC 9745, a structured date
    Sunset: new Date(dateToUnixSeconds(removal) * 1000).toUTCString(), // RFC 8594
  };
}

function deprecationLink(
  operation: Operation,
  replacement: string,
  operations: readonly Operation[],
  { base, documentation }: Addresses,
): string {
  const successor = operations.find(({ name }) => name === replacement);
  return [
    `<${documentation(operation)}>; rel="deprecation"; type="text/html"`,
    `<${base}${successor?.path}>; rel="successor-version"`,
  ].join(", ");
}
