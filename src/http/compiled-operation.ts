import type { BoundChange, BoundOperation, BoundRead } from "../contract/handler.ts";
import type { Operation } from "../contract/operation.ts";
import {
  compileFillPath,
  dateToUnixSeconds,
  deprecationHeaders,
  takesIdempotencyKey,
} from "../contract/operation-properties.ts";
import { compileIdentityReader } from "./changes/request-identity.ts";
import { compileInputReader } from "./input/read-input.ts";
import { compilePageLinks } from "./response/page-links.ts";
import { prepareResponses } from "./response/response.ts";
import { simulationReader } from "./simulation/read-simulation.ts";

/** The addresses to which responses link. */
export interface LinkTargets {
  /** Base address of the API, without a slash at the end: `https://api.example.org/v1`. */
  readonly base: string;
  /** The reference page. */
  readonly docs: string;
  /** See `compilePageLinks`. */
  readonly cursorSecret: string;
}

/** What is prepared once at startup. */
type Compiled = ReturnType<typeof compileParts>;

/** An operation with everything that is prepared once at startup. */
export type CompiledOperation = BoundOperation & Compiled;
/** The same of one that reads the store, or changes it. */
export type CompiledRead = BoundRead & Compiled;
export type CompiledChange = BoundChange & Compiled;

export function compileOperation(
  bound: BoundOperation,
  operations: readonly Operation[],
  targets: LinkTargets,
): CompiledOperation {
  return { ...bound, ...compileParts(bound.operation, operations, targets) };
}

function compileParts(
  operation: Operation,
  operations: readonly Operation[],
  { base, docs, cursorSecret }: LinkTargets,
) {
  const { deprecation } = operation;
  const ofDeprecation = deprecationHeaders(operation, operations, { base, docs });
  const fillPath = compileFillPath(operation.path);
  const pages = compilePageLinks(operation, fillPath, base, cursorSecret);
  return {
    ...compileInputReader(operation, operations, pages),
    ...prepareResponses(operation, base, pages, ofDeprecation),
    fillPath,
    readSimulation: simulationReader(operation, operations),
    /** Set for operations that accept an idempotency key. */
    identityOf: takesIdempotencyKey(operation) ? compileIdentityReader(operation, fillPath) : undefined,
    /** From this moment on the operation returns 410, in Unix milliseconds. */
    removedFrom: deprecation ? dateToUnixSeconds(deprecation.removal) * 1000 : Number.POSITIVE_INFINITY,
  };
}
