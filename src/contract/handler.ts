import type { Static, TSchema } from "typebox";
import type { Caller, ShopNumber } from "./caller.ts";
import { type Failure, isFailure } from "./errors.ts";
import type { Operation } from "./operation.ts";
import type { Change, Lasting, Read } from "./steps.ts";
import type { StreamSource } from "./stream.ts";

/** The type of one part of the input: the type of its schema, or an empty object without a schema. */
type Part<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;

type Position<O extends Operation> = O["paged"] extends { position: infer S extends TSchema } ? Static<S> : undefined;

/** The input of a handler, validated and with defaults filled in. */
export type Input<O extends Operation = Operation> = Inputs<O> & Precondition<O> & Resumption<O>;

interface Inputs<O extends Operation> {
  readonly params: Part<O["params"] extends { schema: infer S } ? S : undefined>;
  readonly query: Part<O["query"]>;
  readonly body: O["body"] extends { schema: infer S extends TSchema } ? Static<S> : undefined;
  /** Paged operations: the position after which the page starts; undefined on the first page. */
  readonly after: Position<O> | undefined;
  /** The maximum size of a page, in bytes of its text. */
  readonly pageBytes: number;
  readonly caller: Caller;
  /** The id that the service gave the request, which the client finds in `X-Request-Id`. */
  readonly requestId: string;
  /** The client's `Idempotency-Key`; undefined if it sent none. */
  readonly idempotencyKey?: string | undefined;
}

type Precondition<O extends Operation> = O["ifMatch"] extends infer S extends TSchema
  ? {
      /** Whether the resource, as it is in the transaction of the change, is what the client expects. */
      readonly matches: (current: Static<S>) => boolean;
    }
  : unknown;

type Resumption<O extends Operation> = O["response"] extends { stream: object }
  ? {
      /** The id of the last event that the client received; undefined if it received none. */
      readonly lastEventId: bigint | undefined;
    }
  : unknown;

/** The success of an operation that is neither paged nor streamed. It may have no content. */
export interface Resource<O extends Operation = Operation> {
  readonly body: Static<O["response"]["schema"]>;
  /** The new internal number of the caller's shop, if the operation has changed it. */
  readonly shop?: ShopNumber;
}

/**
 * The success of a paged operation. A long page is read in pieces: the handler runs once for each, with another `limit`
 * and `after`, and each run is a separate read.
 */
export interface Paged<O extends Operation = Operation> {
  readonly items: Static<O["response"]["schema"]>;
  /** The position after which the next page starts; absent on the last page. */
  readonly next?: Position<O> | undefined;
  /** The position of an item, given its place: the page ends there if its text would be too large. */
  readonly positionAt: (place: number) => Position<O>;
  readonly lasts?: Lasting | undefined;
}

/** The success of a streamed operation: the source of its events. */
export interface Streamed<O extends Operation = Operation> {
  readonly stream: StreamSource<Static<O["response"]["schema"]>>;
}

/** The result of a handler on success. For the general type `Operation`, it is any of the three. */
export type Success<O extends Operation = Operation> = Operation extends O
  ? Resource | Paged | Streamed
  : O["paged"] extends object
    ? Paged<O>
    : O["response"] extends { stream: object }
      ? Streamed<O>
      : Resource<O>;

export type Outcome<O extends Operation> = Success<O> | Failure<O["errors"][number]>;

/**
 * What an operation does: a read for `GET`, else a change, so that the request's stored response can be written in the
 * same transaction. A failure that it returns commits what was done before it, so return it first. Only a thrown error
 * undoes what was done.
 */
export type Handler<O extends Operation> = O["method"] extends "GET"
  ? (input: Input<O>) => Read<Outcome<O>>
  : ((input: Input<O>) => Change<Outcome<O>>) | ConcludedChange<O> | PreparedChange<O>;

/** A change with a part that needs no transaction. Make it with `prepared`. */
export interface PreparedChange<O extends Operation = Operation> {
  /** Runs once before the transaction, which gets its result, and may pause. */
  readonly prepare: (input: Input<O>) => Read<unknown>;
  readonly change: (input: Input<O>, preparation: unknown) => Change<Outcome<O>>;
}

/** Joins the parts of a prepared change. */
export function prepared<O extends Operation, P>(
  prepare: (input: Input<O>) => Read<P>,
  change: (input: Input<O>, preparation: P) => Change<Outcome<O>>,
): PreparedChange<O> {
  return { prepare, change: (input, preparation) => change(input, preparation as P) };
}

/** A change, and what can make its response only after the commit, such as work that fits in no transaction. */
export interface ConcludedChange<O extends Operation = Operation> {
  /** If it returns the response, `conclude` is not called. */
  readonly change: (input: Input<O>, preparation: unknown) => Change<Committed | Outcome<O>>;
  /**
   * Called after the commit, and again when the request is repeated with its idempotency key, until it succeeds. Its
   * result is the response.
   */
  readonly conclude: (input: Input<O>) => Promise<Outcome<O>>;
}

/** The success of a change whose response is still to come. */
export type Committed = Pick<Resource, "shop"> & { readonly body?: never };

/** True if the outcome of a change is the response, so that nothing must be concluded. */
export function isResponse(outcome: Success | Failure | Committed): outcome is Success | Failure {
  return "error" in outcome || "body" in outcome || "items" in outcome || "stream" in outcome;
}

/** Makes the response of a change that was committed without one. */
export function concludeChange({ operation, conclude }: BoundChange, input: Input): Promise<Success | Failure> {
  if (!conclude) throw new TypeError(`${operation.name} gave no response, and has nothing that makes it.`);
  return conclude(input);
}

/** One handler for each operation of the list; a missing one does not compile. */
export type Handlers<Operations extends readonly Operation[]> = {
  readonly [O in Operations[number] as O["name"]]: Handler<O>;
};

/** A `GET` with the function that serves it. */
export interface BoundRead {
  readonly operation: Operation;
  readonly read: (input: Input) => Read<Success | Failure>;
  readonly change?: never;
}

/** Another operation with the functions that serve it. See `ConcludedChange` and `PreparedChange`. */
export interface BoundChange {
  readonly operation: Operation;
  readonly read?: never;
  readonly prepare?: (input: Input) => Read<unknown>;
  readonly change: (input: Input, preparation?: unknown) => Change<Success | Failure | Committed>;
  readonly conclude?: ((input: Input) => Promise<Success | Failure>) | undefined;
}

export type BoundOperation = BoundRead | BoundChange;

/** Joins each operation with its handler. */
export function bind<const Operations extends readonly Operation[]>(
  operations: Operations,
  handlers: Handlers<Operations>,
): BoundOperation[] {
  const byName = handlers as unknown as Readonly<
    Record<string, BoundRead["read"] | BoundChange["change"] | BoundChange>
  >;
  return operations.map((operation) => {
    const handler = byName[operation.name];
    if (!handler)
      throw new TypeError(`The operation ${operation.name} has no handler; add ${operation.name} to the handlers.`);
    if (typeof handler !== "function") return { ...handler, operation };
    return operation.method === "GET"
      ? { operation, read: handler as BoundRead["read"] }
      : { operation, change: handler as BoundChange["change"] };
  });
}

/** Returns the failure of a handler. Throws a `TypeError` if the operation does not declare it. */
export function requireDeclared(failed: Failure, { name, errors }: Operation): Failure {
  if (errors.includes(failed.error)) return failed;
  throw new TypeError(
    `${name} gave ${failed.error.code}, which it does not declare; add it to the errors of the operation.`,
  );
}

type FieldOf<T> = T extends unknown ? keyof T : never;

/**
 * The response to a request for which a store has returned this: it is the failure, or the body of the success. A body
 * with a field `error` could not be told from a failure, so it does not compile.
 */
export function responseWith<T>(
  outcome: "error" extends FieldOf<Exclude<T, Failure>> ? never : T,
): Extract<T, Failure> | { readonly body: Exclude<T, Failure> } {
  return isFailure(outcome) ? outcome : { body: outcome as Exclude<T, Failure> };
}
