import type { Failure } from "../contract/errors.ts";
import {
  type BoundOperation,
  type Deprecation,
  dateToUnixSeconds,
  hasEntityTag,
  isCacheable,
  type Operation,
  takesIdempotencyKey,
} from "../contract/operation.ts";
import { compileSerializer, type Serializer } from "../contract/serialize.ts";
import { compilePath } from "./fill-path.ts";
import { sharedHeaders } from "./headers.ts";
import { compilePageLinks, type PageLinks } from "./page-links.ts";
import { compileInputReader, type InputReader } from "./read-input.ts";
import { compileRequestText, type RequestText } from "./request-text.ts";

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
  /** For an operation that takes an idempotency key. */
  readonly requestText: RequestText | undefined;
  /** The path of the resource that a success made, below the base address; undefined for none. */
  readonly location: ((body: Readonly<Record<string, unknown>>) => string) | undefined;
  readonly hasEntityTag: boolean;
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
    requestText: takesIdempotencyKey(operation) ? compileRequestText(operation) : undefined,
    location: operation.answer.location === undefined ? undefined : compilePath(operation.answer.location),
    hasEntityTag: hasEntityTag(operation),
    isCacheable: isCacheable(operation),
    removedFrom: deprecation ? dateToUnixSeconds(deprecation.removal) * 1000 : Number.POSITIVE_INFINITY,
    successHeaders: headers,
    failureHeaders,
    deprecationLink: link,
  };
}

/** The failure, which the operation has to declare. Throws a `TypeError` where it does not. */
export function requireDeclared(failed: Failure, { name, errors }: Operation): Failure {
  if (errors.includes(failed.error)) return failed;
  throw new TypeError(`${name} gave ${failed.error.code}, which it does not declare.`);
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
