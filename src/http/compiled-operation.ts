import type { BoundOperation, Operation } from "../contract/operation.ts";
import { dateToUnixSeconds } from "../contract/operation.ts";
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
  readonly readInput: InputReader;
  readonly serialize: Serializer;
  /** From this moment on the operation answers 410, in unix milliseconds. */
  readonly removedFrom: number;
  /** Headers of every answer of a deprecated operation. */
  readonly deprecationHeaders: readonly (readonly [name: string, value: string])[];
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
  return {
    ...bound,
    readInput: compileInputReader(operation),
    serialize: compileSerializer(operation.answer.schema),
    removedFrom: deprecation ? dateToUnixSeconds(deprecation.removal) * 1000 : Number.POSITIVE_INFINITY,
    deprecationHeaders: deprecation
      ? [
          ["Deprecation", `@${dateToUnixSeconds(deprecation.since)}`], // RFC 9745, a structured date
          ["Sunset", new Date(dateToUnixSeconds(deprecation.removal) * 1000).toUTCString()], // RFC 8594
        ]
      : [],
    deprecationLink: deprecation ? deprecationLink(operation, deprecation.replacement, operations, addresses) : "",
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
