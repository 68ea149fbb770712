import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Change } from "./change.ts";
import {
  type ErrorDefinition,
  type Failure,
  idempotencyKeyInUse,
  idempotencyKeyReused,
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
import type { FreeQuota, Quota } from "./quota.ts";

/** What an API key may be allowed to do. */
export const scopes = ["read", "write", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Which of an account's two shops a key is for: the live one, or the sandbox (`test`). */
export const modes = ["live", "test"] as const;
export type Mode = (typeof modes)[number];

/** Who sends a request with a valid key, and what the account's plan allows. */
export interface Caller extends Quota {
  readonly keyId: string;
  readonly accountId: string;
  readonly mode: Mode;
  /** The internal number of the shop that the key is for. It is never shown. */
  readonly shop: number;
  readonly scopes: ReadonlySet<Scope>;
}

/** A shop by what it is called outside: its account and its mode. Limits and usage are counted by it. */
export type ShopName = Pick<Caller, "accountId" | "mode">;

export type Stability = "stable" | "beta" | "experimental";

export interface Tag {
  readonly name: string;
  readonly description: string;
  /** The stability of its operations that state none. */
  readonly stability: Stability;
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

export interface DisabledTestPanel {
  /** The reason: a clause without a full stop, which is shown after "No test panel:". */
  readonly disabled: string;
}

/**
 * One operation of the interface: a plain value, from which everything else is derived. A domain states an
 * `OperationDefinition`; `defineOperation` fills in the rest.
 */
export interface Operation {
  /** Unique name, lowerCamelCase; the `operationId` of the OpenAPI document. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the base address, with parameters in braces: `/pets/{petId}`. */
  readonly path: `/${string}`;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly stability: Stability;
  readonly deprecation?: Deprecation;
  /** Whether the reference page has an interactive test panel for the operation; if not, why. */
  readonly testPanel: true | DisabledTestPanel;
  /** The scope that a key needs; `any` for one that every valid key may use. */
  readonly scope: Scope | "any";
  /**
   * For an operation that counts in neither window of the shop, answers a key that is banned or whose windows are used
   * up, and is not in the shop's usage. One that is `free` may be sent as often as the plan says, counted apart. Those
   * of a `sandbox` share `sandboxQuota`, by real time; with a live key, such a request is one like any other.
   */
  readonly quota?: FreeQuota;
  /** Path parameters, and the error for a value that no resource can have. */
  readonly params?: { readonly schema: TObject; readonly invalidError: ErrorDefinition };
  readonly query?: TObject;
  /** JSON; that of a `PATCH` is a JSON Merge Patch (RFC 7396). */
  readonly body?: {
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
  };
  /**
   * For an operation that honours `If-Match` (RFC 9110, section 13.1.1): the representation whose
   * entity tag is meant. Its handler asks `matches`, and its errors have `preconditionFailed`.
   */
  readonly ifMatch?: TSchema;
  /**
   * The answer of success. `location` names the new resource: `/pets/{id}`, filled from the body.
   * `entityTag` is true where the body of a write is the resource as it is from now on. A `secret`
   * one is shown once: what is kept of it for a retry can be read by the client alone.
   */
  readonly answer: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
    readonly location?: `/${string}`;
    readonly entityTag?: true;
    readonly secret?: true;
  };
  /**
   * For a list that is read page by page: what a position in it is (the sort key of an item).
   * `query` then holds `pageParameters`.
   */
  readonly paged?: { readonly position: TSchema };
  /** The operation's own errors. Those that every operation owes are added by `errorsOf`. */
  readonly errors: readonly ErrorDefinition[];
}

/** What the definition of an operation may leave out, because `defineOperation` fills it in. */
type Defaulted = "stability" | "testPanel" | "scope" | "errors";

/** An operation as a domain states it. */
export type OperationDefinition = Omit<Operation, Defaulted> & Partial<Pick<Operation, Defaulted>>;

/** What is filled in where a definition does not state it; `errors` is put in front of those that it states. */
interface Defaults<D extends OperationDefinition> {
  readonly stability: D["tag"]["stability"];
  readonly testPanel: true;
  readonly scope: D["method"] extends "GET" ? "read" : "write";
}

type ErrorOfParams<D extends OperationDefinition> = D["params"] extends {
  invalidError: infer E extends ErrorDefinition;
}
  ? E
  : never;
type ErrorOf<E> = E extends readonly (infer One extends ErrorDefinition)[] ? One : never;

/** The operation that `defineOperation` makes of a definition. */
type Defined<D extends OperationDefinition> = Omit<D, "errors"> &
  Omit<Defaults<D>, keyof D> & { readonly errors: readonly (ErrorOfParams<D> | ErrorOf<D["errors"]>)[] };

/** Parts of an operation that have keys themselves. Schemas and examples are none: any key can stand in them. */
type PartName = "tag" | "deprecation" | "params" | "body" | "answer" | "paged";

declare const misspelled: unique symbol;

/** No value has this type. The compiler names it where a key is misspelled, so its name is the message. */
interface MisspelledKeyOf<Of extends string> {
  readonly [misspelled]: Of;
}

/** Refuses the keys of `T` that `Known` lacks. */
type NoOthers<T, Known, Of extends string> = {
  readonly [K in Exclude<keyof T, keyof Known>]: MisspelledKeyOf<Of>;
};

type OnlyKnownKeys<D extends OperationDefinition> = NoOthers<D, Operation, "operation"> & {
  readonly [K in PartName & keyof D]: NoOthers<D[K], NonNullable<Operation[K]>, K>;
};

/**
 * Gives an operation its exact type, and fills in what its definition leaves out: the tag's stability, a test
 * panel, the scope `read` of a GET and `write` of any other, and the error of its path parameters, which every
 * operation that has some can answer with. A key that operations do not have is refused by the compiler; other
 * faults, and such keys where the compiler was not asked, are found by `contractFaults` at startup.
 */
export function defineOperation<const D extends OperationDefinition>(definition: D & OnlyKnownKeys<D>): Defined<D> {
  const { tag, method, params, errors = [] }: OperationDefinition = definition;
  const scope = method === "GET" ? "read" : "write";
  const ofParams = params && !errors.includes(params.invalidError) ? [params.invalidError] : [];
  const defaults = { stability: tag.stability, testPanel: true, scope } as const;
  return { ...defaults, ...definition, errors: [...ofParams, ...errors] } as unknown as Defined<D>;
}

/** The answer of an operation that has nothing to say on success but `description`. */
export function noContent(description: string) {
  return { status: 204, description, schema: Type.Null(), examples: { Nothing: null } } as const;
}

/** The type of one input part: what the schema describes, or an empty object where there is none. */
type Part<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;

type Position<O extends Operation> = O["paged"] extends { position: infer S extends TSchema } ? Static<S> : undefined;

/** What a handler is given: inputs that are already valid, with defaults filled in. */
export type Input<O extends Operation = Operation> = Inputs<O> & Precondition<O>;

interface Inputs<O extends Operation> {
  readonly params: Part<O["params"] extends { schema: infer S } ? S : undefined>;
  readonly query: Part<O["query"]>;
  readonly body: O["body"] extends { schema: infer S extends TSchema } ? Static<S> : undefined;
  /** Paged operations: the position after which the page starts; undefined on the first page. */
  readonly after: Position<O> | undefined;
  readonly caller: Caller;
  /** The client's name for the request, for whoever keeps its answer; undefined where it has none. */
  readonly idempotencyKey?: string | undefined;
}

type Precondition<O extends Operation> = O["ifMatch"] extends infer S extends TSchema
  ? {
      /** Whether the resource, as it is in the transaction of the change, is what the client expects. */
      readonly matches: (current: Static<S>) => boolean;
    }
  : unknown;

/** The success of an operation that is not paged. */
export interface Resource<O extends Operation = Operation> {
  readonly body: Static<O["answer"]["schema"]>;
}

/** The success of a paged operation. A handler that gives the same object again spares the work of rendering it. */
export interface Listing<O extends Operation = Operation> {
  readonly items: Static<O["answer"]["schema"]>;
  /** The position of the page's last item; absent on the last page. */
  readonly next?: Position<O> | undefined;
}

/** What a handler gives back on success. */
export type Success<O extends Operation = Operation> = Operation extends O
  ? Resource | Listing
  : O["paged"] extends object
    ? Listing<O>
    : Resource<O>;

export type Outcome<O extends Operation> = Success<O> | Failure<O["errors"][number]>;

export type { Change } from "./change.ts";

/** Runs a change. Resolves when it is on disk; it may run the steps again. */
export type Write = <T>(change: () => Change<T>) => Promise<T>;

/** Runs the change of an operation; the outcome can be one that was given before. */
export type WriteOutcome = (change: () => Change<Success | Failure>) => Promise<Success | Failure>;

/**
 * What an operation does. A `GET` reads, synchronously where nothing has to be waited for: that is
 * faster. Any other is a change, so that what belongs to the same request can join its transaction.
 */
export type Handler<O extends Operation> = O["method"] extends "GET"
  ? (input: Input<O>) => Outcome<O> | Promise<Outcome<O>>
  : (input: Input<O>) => Change<Outcome<O>>;

/** One handler for each operation of the list; a missing one does not compile. */
export type Handlers<Operations extends readonly Operation[]> = {
  readonly [O in Operations[number] as O["name"]]: Handler<O>;
};

/** An operation together with what serves it. */
export interface BoundOperation {
  readonly operation: Operation;
  readonly serve: (input: Input, write: WriteOutcome) => Success | Failure | Promise<Success | Failure>;
}

type AnyHandler = (input: Input) => Success | Failure | Promise<Success | Failure> | Change<Success | Failure>;

/** Joins each operation with its handler. */
export function bind<const Operations extends readonly Operation[]>(
  operations: Operations,
  handlers: Handlers<Operations>,
): BoundOperation[] {
  const byName = handlers as unknown as Record<string, AnyHandler>;
  return operations.map((operation) => {
    const handler = byName[operation.name];
    if (!handler)
      throw new TypeError(`The operation ${operation.name} has no handler; add ${operation.name} to the handlers.`);
    if (operation.method === "GET") return { operation, serve: handler as BoundOperation["serve"] };
    const change = handler as (input: Input) => Change<Success | Failure>;
    return { operation, serve: (input, write) => write(() => change(input)) };
  });
}

/** True for an operation that, sent again, could do twice what it does (RFC 9110, section 9.2.2). */
export function takesIdempotencyKey({ method }: Operation): boolean {
  return method === "POST" || method === "PATCH";
}

/** Every error that an operation can answer with, its own first, without repetition. */
export function errorsOf(operation: Operation): readonly ErrorDefinition[] {
  return [
    ...new Set([
      ...operation.errors,
      ...(operation.params ? [operation.params.invalidError] : []),
      invalidRequest, // also without parameters: an unknown query parameter is refused
      missingApiKey,
      invalidApiKey,
      ...(operation.scope === "any" ? [] : [insufficientScope]),
      ...(operation.deprecation ? [operationRemoved] : []),
      ...(operation.method === "GET" ? [] : [requestTimeout, payloadTooLarge]), // an empty object may be sent to all
      ...(operation.body ? [unsupportedMediaType] : []),
      ...(takesIdempotencyKey(operation) ? [idempotencyKeyInUse, idempotencyKeyReused] : []),
      rateLimitExceeded,
      ...(operation.quota === "free" ? [] : [keyBanned]),
      internalError,
      overloaded,
      storageUnavailable,
    ]),
  ];
}

/** What a caller's requests for an operation are counted by where they cost no quota. */
export function freeQuotaOf(operation: Operation | undefined, { mode }: Pick<Caller, "mode">): FreeQuota | undefined {
  return operation?.quota === "sandbox" && mode === "live" ? undefined : operation?.quota;
}

/** The media types in which the body may be sent, the preferred one first; none where there is no body. */
export function mediaTypesOf({ method, body }: Operation): readonly string[] {
  if (!body) return [];
  return method === "PATCH" ? ["application/merge-patch+json", "application/json"] : ["application/json"];
}

/** True if a client can ask, by the entity tag of an answer, whether the next would be another. */
export function isCacheable({ method, answer }: Operation): boolean {
  return method === "GET" && answer.status === 200;
}

/** True if the answer of success has an entity tag (RFC 9110, section 8.8.3). */
export function hasEntityTag(operation: Operation): boolean {
  return isCacheable(operation) || operation.answer.entityTag === true;
}

/** First moment of a deprecation date, in unix seconds. */
export function dateToUnixSeconds(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** Names of the path parameters, in order: `/pets/{petId}` has `petId`. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}
