import type { Static, TObject, TSchema } from "typebox";
import {
  type ErrorDefinition,
  type Failure,
  insufficientScope,
  internalError,
  invalidApiKey,
  invalidRequest,
  keyBanned,
  missingApiKey,
  operationRemoved,
  overloaded,
  payloadTooLarge,
  rateLimitExceeded,
  requestTimeout,
  storageUnavailable,
  unsupportedMediaType,
} from "./errors.ts";

/** What an API key may be allowed to do. */
export const scopes = ["read", "write", "admin"] as const;
export type Scope = (typeof scopes)[number];

export interface Tag {
  readonly name: string;
  readonly description: string;
}

export interface Deprecation {
  /** First day on which the operation is deprecated, `YYYY-MM-DD` (RFC 9745). */
  readonly since: string;
  /** Day from whose first second (UTC) on the operation answers 410, `YYYY-MM-DD` (RFC 8594). */
  readonly removal: string;
  /** Name of the operation to use instead. */
  readonly replacement: string;
  /** What to do instead, one sentence. */
  readonly advice: string;
}

/** One operation of the interface: a plain value, from which everything else is derived. */
export interface Operation {
  /** Unique name, lowerCamelCase; the `operationId` of the OpenAPI document. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base address, with parameters in braces: `/pets/{petId}`. */
  readonly path: `/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly stability: "stable" | "beta" | "experimental";
  readonly deprecation?: Deprecation;
  /** False switches off the interactive test panel of the reference page. */
  readonly testPanel: boolean;
  /** The scope that a key needs. */
  readonly scope: Scope;
  /** Path parameters, and the error for a value that no resource can have. */
  readonly params?: { readonly schema: TObject; readonly otherwise: ErrorDefinition };
  readonly query?: TObject;
  readonly body?: { readonly schema: TSchema; readonly examples: Readonly<Record<string, unknown>> };
  /** The answer of success. `location` names the new resource: `/pets/{id}`, filled from the body. */
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
    readonly location?: `/${string}`;
  };
  /**
   * For a list that is read page by page: what a position in it is (the sort key of an item).
   * `query` then holds `pageParameters`.
   */
  readonly paged?: { readonly position: TSchema };
  /** The operation's own errors. Those that every operation owes are added by `errorsOf`. */
  readonly errors: readonly ErrorDefinition[];
}

/** Gives an operation its exact type. Faults in it are found by `contractFaults`, at the start. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

/** The type of one input part: what the schema describes, or an empty object where there is none. */
type Part<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;

type Position<O extends Operation> = O["paged"] extends { position: infer S extends TSchema } ? Static<S> : undefined;

/** What a handler is given: inputs that are already valid, with defaults filled in. */
export interface Input<O extends Operation = Operation> {
  readonly params: Part<O["params"] extends { schema: infer S } ? S : undefined>;
  readonly query: Part<O["query"]>;
  readonly body: O["body"] extends { schema: infer S extends TSchema } ? Static<S> : undefined;
  /** Paged operations: the position after which the page starts; undefined on the first page. */
  readonly after: Position<O> | undefined;
}

/** What a handler gives back on success. */
export interface Success<O extends Operation = Operation> {
  readonly body: Static<O["answer"]["schema"]>;
  /** Paged operations: the position of the page's last item; absent on the last page. */
  readonly next?: Position<O> | undefined;
}

export type Outcome<O extends Operation> = Success<O> | Failure<O["errors"][number]>;

/** What an operation does. Synchronous where nothing has to be waited for: that is faster. */
export type Handler<O extends Operation> = (input: Input<O>) => Outcome<O> | Promise<Outcome<O>>;

/** One handler for each operation of the list; a missing one does not compile. */
export type Handlers<Operations extends readonly Operation[]> = {
  readonly [O in Operations[number] as O["name"]]: Handler<O>;
};

/** An operation together with its handler. */
export interface BoundOperation {
  readonly operation: Operation;
  readonly handler: (input: Input) => Success | Failure | Promise<Success | Failure>;
}

/** Joins each operation with its handler. */
export function bind<const Operations extends readonly Operation[]>(
  operations: Operations,
  handlers: Handlers<Operations>,
): BoundOperation[] {
  const byName = handlers as unknown as Record<string, BoundOperation["handler"]>;
  return operations.map((operation) => {
    const handler = byName[operation.name];
    if (!handler) throw new TypeError(`The operation ${operation.name} has no handler.`);
    return { operation, handler };
  });
}

/** Every error that an operation can answer with, its own first, without repetition. */
export function errorsOf(operation: Operation): readonly ErrorDefinition[] {
  return [
    ...new Set([
      ...operation.errors,
      ...(operation.params ? [operation.params.otherwise] : []),
      invalidRequest, // also without parameters: an unknown query parameter is refused
      missingApiKey,
      invalidApiKey,
      insufficientScope,
      ...(operation.deprecation ? [operationRemoved] : []),
      ...(operation.body ? [requestTimeout, payloadTooLarge, unsupportedMediaType] : []),
      rateLimitExceeded,
      keyBanned,
      internalError,
      overloaded,
      storageUnavailable,
    ]),
  ];
}

/** First moment of a deprecation date, in unix seconds. */
export function dateToUnixSeconds(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** Names of the path parameters, in order: `/pets/{petId}` has `petId`. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}
