import { type TObject, type TSchema, Type } from "typebox";
import type { Scope } from "./caller.ts";
import type { ErrorDefinition } from "./errors.ts";
import type { EventType } from "./event-type.ts";
import type { FreeQuota } from "./quota.ts";

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
   * Types of the events that a success adds to the log of the shop: the first always, unless nothing has changed. Empty
   * for an operation that is no `GET` and changes no resource.
   */
  readonly emits?: readonly EventType["type"][];
  /**
   * For an operation that honours `If-Match` (RFC 9110, section 13.1.1): the representation whose
   * entity tag is meant. Its handler asks `matches`, and its errors have `preconditionFailed`.
   */
  readonly ifMatch?: TSchema;
  /**
   * The success response. `location` names the new resource: `/pets/{id}`, filled from the body.
   * `entityTag` is true where the body of a write is the resource as it is from now on. A `secret`
   * one is shown once: what is kept of it for a retry can be read by the client alone. With `stream`, the response does
   * not end, and the schema is that of each event in it.
   */
  readonly response: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
    readonly location?: `/${string}`;
    readonly entityTag?: true;
    readonly secret?: true;
    readonly stream?: StreamedFields;
  };
  /**
   * For a list that is read page by page: what a position in it is (the sort key of an item).
   * `query` then holds `pageParameters`.
   */
  readonly paged?: { readonly position: TSchema };
  /** The operation's own errors. Those that every operation owes are added by `errorsOf`. */
  readonly errors: readonly ErrorDefinition[];
}

/** The fields of a streamed event that name its `id`, an int64 that grows, and its `event` (Server-sent events, HTML). */
interface StreamedFields {
  readonly id: string;
  readonly event: string;
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
type PartName = "tag" | "deprecation" | "params" | "body" | "response" | "paged";

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
 * operation that has some can return. A key that operations do not have is refused by the compiler; other
 * faults, and such keys where the compiler was not asked, are found by `contractFaults` at startup.
 */
export function defineOperation<const D extends OperationDefinition>(definition: D & OnlyKnownKeys<D>): Defined<D> {
  const { tag, method, params, errors = [] }: OperationDefinition = definition;
  const scope = method === "GET" ? "read" : "write";
  const ofParams = params && !errors.includes(params.invalidError) ? [params.invalidError] : [];
  const defaults = { stability: tag.stability, testPanel: true, scope } as const;
  return { ...defaults, ...definition, errors: [...ofParams, ...errors] } as unknown as Defined<D>;
}

/** The response of an operation that has nothing to say on success but `description`. */
export function noContent(description: string) {
  return { status: 204, description, schema: Type.Null(), examples: { Nothing: null } } as const;
}
