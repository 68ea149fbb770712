import type { Failure } from "../contract/errors.ts";
import type { BoundOperation } from "../contract/handler.ts";
import type { Operation } from "../contract/operation.ts";
import {
  compileFillPath,
  dateToUnixSeconds,
  deprecationHeaders,
  hasEntityTag,
  isCacheable,
  responseType,
  takesIdempotencyKey,
} from "../contract/operation-properties.ts";
import { compileIdentityReader, type IdentityReader } from "./idempotency/request-identity.ts";
import { compileInputReader, type InputReader } from "./input/read-input.ts";
import { ReusedHeaders, secretHeaders, sharedHeaders, streamHeaders } from "./response/headers.ts";
import { compilePageLinks } from "./response/page-links.ts";
import { compileRender, type Render } from "./response/rendered-body.ts";
import { type SimulationReader, simulationReader } from "./simulation/read-simulation.ts";
import { compileEventEncoder, type EventEncoder } from "./streams/event-encoder.ts";

/** The addresses to which responses link. */
export interface LinkTargets {
  /** Base address of the API, without a slash at the end: `https://api.example.org/v1`. */
  readonly base: string;
  /** Where the reference page shows an operation. */
  readonly documentation: (operation: Operation) => string;
  /** See `compilePageLinks`. */
  readonly cursorSecret: string;
}

/** An operation with everything that is prepared once at startup. */
export interface CompiledOperation extends BoundOperation {
  /** The path, with its parameters filled in. */
  readonly fillPath: (params: Readonly<Record<string, unknown>>) => string;
  readonly readSimulation: SimulationReader;
  readonly readInput: InputReader;
  readonly render: Render;
  /** For an operation whose response is streamed. */
  readonly eventEncoder: EventEncoder | undefined;
  /** Set for operations that accept an idempotency key. */
  readonly identityOf: IdentityReader | undefined;
  readonly hasEntityTag: boolean;
  readonly isCacheable: boolean;
  /** From this moment on the operation returns 410, in Unix milliseconds. */
  readonly removedFrom: number;
  readonly successHeaders: ReusedHeaders;
  readonly failureHeaders: ReusedHeaders;
}

export function compileOperation(
  bound: BoundOperation,
  operations: readonly Operation[],
  { base, documentation, cursorSecret }: LinkTargets,
): CompiledOperation {
  const { operation } = bound;
  const { deprecation } = operation;
  const links = { base, documentation: documentation(operation) };
  const ofDeprecation = deprecationHeaders(operation, operations, links);
  const pages = compilePageLinks(operation, base, cursorSecret);
  const ofAll = { ...sharedHeaders, ...ofDeprecation };
  const ofSuccess = {
    ...ofAll,
    ...(operation.response.status === 204 ? {} : { "Content-Type": responseType(operation) }),
    ...(operation.response.secret ? secretHeaders : {}),
    ...(operation.response.stream ? streamHeaders : {}),
  };
  return {
    ...bound,
    fillPath: compileFillPath(operation.path),
    readSimulation: simulationReader(operation, operations),
    readInput: compileInputReader(operation, operations, pages),
    render: compileRender(operation, pages, ofDeprecation?.Link ?? ""),
    eventEncoder: compileEventEncoder(operation),
    identityOf: takesIdempotencyKey(operation) ? compileIdentityReader(operation) : undefined,
    hasEntityTag: hasEntityTag(operation),
    isCacheable: isCacheable(operation),
    removedFrom: deprecation ? dateToUnixSeconds(deprecation.removal) * 1000 : Number.POSITIVE_INFINITY,
    successHeaders: new ReusedHeaders(ofSuccess),
    failureHeaders: new ReusedHeaders({ ...ofAll, "Content-Type": "application/json" }),
  };
}

/** Returns the failure. Throws a `TypeError` if the operation does not declare it. */
export function requireDeclared(failed: Failure, { name, errors }: Operation): Failure {
  if (errors.includes(failed.error)) return failed;
  throw new TypeError(
    `${name} gave ${failed.error.code}, which it does not declare; add it to the errors of the operation.`,
  );
}
