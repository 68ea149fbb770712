import { type TObject, type TSchema, Type } from "typebox";
import type { Scope, SeparateQuota } from "./caller.ts";
import type { ErrorDefinition } from "./errors.ts";
import type { NoOthers, NotPossibleFor } from "./known-keys.ts";
import type { BodyLimits } from "./requests.ts";

/** How far an operation may change. The introduction of the OpenAPI document explains it to clients. */
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
  /** The alternative, in one sentence. */
  readonly advice: string;
}

export interface DisabledTestPanel {
  /** The reason: a clause without a full stop, which is shown after "No test panel:". */
  readonly disabled: string;
}

/**
 * One operation of the API, as plain data from which everything else is derived. A domain writes an
 * `OperationDefinition`, and `defineOperation` fills in the rest.
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
  /** What its path is called elsewhere: a 404 for a path with one of these words suggests it. */
  readonly aliases?: readonly string[];
  readonly stability: Stability;
  readonly deprecation?: Deprecation;
  /** Whether the reference page has an interactive test panel for the operation; if not, why. */
  readonly testPanel: true | DisabledTestPanel;
  /** The scopes that a key must have; none if every valid key may use the operation. */
  readonly scopes: readonly Scope[];
  /**
   * For an operation that does not count in the windows of the shop. It works even if the key is banned or these windows
   * are used up, and it is not part of the shop's usage. `plan`: all such operations share another quota as large as the
   * plan's. `sandbox`: all such operations share `sandboxQuota`, counted in real time; with a live key, the normal limits
   * apply.
   */
  readonly separateQuota?: SeparateQuota;
  /** Path parameters, and the error for a value that no resource can have. */
  readonly params?: { readonly schema: TObject; readonly invalidError: ErrorDefinition };
  readonly query?: TObject;
  /** JSON; that of a `PATCH` is a JSON Merge Patch (RFC 7396). */
  readonly body?: {
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
    /** True if a request may leave it out, which is the same as an empty object. */
    readonly optional?: true;
    /** What takes files instead, for those who send one: a clause. */
    readonly files?: string;
    /** For an operation with larger bodies than others. */
    readonly limits?: BodyLimits;
  };
  /**
   * Types of the events that a success adds to the log of the shop. The first is always added, unless nothing changed.
   * Empty if it changes no resource.
   */
  readonly emits?: readonly EventType["type"][];
  /** The tools for assistants that call it, by names that are unique; none by default. */
  readonly agentTools?: Readonly<Record<string, AgentTool>>;
  /** The messages that the service sends to the URL in the body, later and unasked. */
  readonly sends?: Webhook;
  /**
   * For an operation that supports `If-Match` (RFC 9110, section 13.1.1): the representation with the
   * entity tag. Its handler calls `matches`, and its errors include `preconditionFailed`.
   */
  readonly ifMatch?: TSchema;
  /**
   * The success response. `location` is the path of the new resource, such as `/pets/{id}`, filled from the body.
   * `entityTag` is true if the body of a write is the changed resource. With `stream`, the response does not end, and the
   * schema describes each event. `narrowed` has a narrower schema, of the response to a body whose field `by` is true.
   */
  readonly response: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, unknown>>;
    readonly location?: `/${string}`;
    readonly entityTag?: true;
    readonly narrowed?: { readonly by: string; readonly schema: TSchema };
    readonly stream?: StreamFields;
  };
  /**
   * For a paged list: the schema of a position, which is the sort key of an item. `query` then contains
   * `pageParameters`. `ids` names the parameter that filters by the ids of items: a page for exactly one id has the
   * entity tag of that item.
   */
  readonly paged?: { readonly position: TSchema; readonly ids?: string };
  /** The operation's own errors. `errorsOf` adds those of the service itself. */
  readonly errors: readonly ErrorDefinition[];
}

/** A use of an operation that is offered to assistants. */
export interface AgentTool {
  /** What a call does to the shop. What `overwrites` has no further effect when it is repeated; what `acts` has. */
  readonly does: "reads" | "adds" | "overwrites" | "acts";
  /** The inputs that it shows: parameters and fields of the body. A field of an object, `price.amount`, has another name. */
  readonly takes: readonly (string | readonly [shown: string, path: string])[];
  /** Inputs that a call must have, although the operation does not require them. */
  readonly needs?: readonly string[];
  /** Inputs that each call has, whatever it gives. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** The name of the response in the result. */
  readonly gives: string;
  /** True if that is the record of a request, which the result tells in the words of the tool that sends such requests. */
  readonly explains?: true;
  /** For a model. */
  readonly text: string;
}

/** Messages that the service sends to a URL of a client. */
export interface Webhook {
  /** Unique name, lowerCamelCase. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly headers: TObject;
  readonly schema: TSchema;
  readonly examples: Readonly<Record<string, unknown>>;
  /** What each status of the client's response means, by `2XX` or the exact status. */
  readonly responses: Readonly<Record<string, string>>;
}

/** The properties that become `id`, an increasing int64, and `event` of a server-sent event (HTML Standard). */
interface StreamFields {
  readonly id: string;
  readonly event: string;
}

/** The optional parts of a definition, which `defineOperation` fills in. */
type Defaulted = "stability" | "testPanel" | "scopes" | "errors";

/** An operation as a domain states it. */
export type OperationDefinition = Omit<Operation, Defaulted> & Partial<Pick<Operation, Defaulted>>;

/** The defaults of a definition. */
interface Defaults<D extends OperationDefinition> {
  readonly stability: D["tag"]["stability"];
  readonly testPanel: true;
  readonly scopes: Operation["scopes"];
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

/** The parts of an operation with known keys. Schemas and examples are not listed, because they can have any key. */
type PartName = "tag" | "deprecation" | "testPanel" | "params" | "body" | "response" | "paged" | "sends";

type OnlyKnownKeys<D extends OperationDefinition> = NoOthers<D, Operation, "operation"> & {
  readonly [K in PartName & keyof D]: D[K] extends object
    ? NoOthers<D[K], Extract<NonNullable<Operation[K]>, object>, K>
    : unknown;
} & {
  readonly agentTools?: { readonly [T in keyof D["agentTools"]]: NoOthers<D["agentTools"][T], AgentTool, "tool"> };
};

/** What the method decides: a `GET` takes no body and changes nothing, and only it can be a stream. */
type OfMethod<M, Never = NotPossibleFor<M>> = M extends "GET"
  ? { readonly body?: Never; readonly ifMatch?: Never; readonly emits?: Never; readonly response: { status: 200 } }
  : { readonly emits: readonly EventType["type"][]; readonly response: { readonly stream?: Never } };

/**
 * Gives an operation its exact type and fills in the defaults: the tag's stability, a test panel, the scopes (`read`
 * for a GET, otherwise `write`), and the error of its path parameters. The compiler rejects unknown keys and those
 * that the method excludes, and `contractFaults` finds other faults at build time or startup.
 */
export function defineOperation<const D extends OperationDefinition>(
  definition: D & OnlyKnownKeys<D> & OfMethod<D["method"]>,
): Defined<D> {
  const { tag, method, params, errors = [] }: OperationDefinition = definition as D;
  const scopes: Operation["scopes"] = [method === "GET" ? "read" : "write"];
  const ofParams = params && !errors.includes(params.invalidError) ? [params.invalidError] : [];
  const defaults = { stability: tag.stability, testPanel: true, scopes } as const;
  return { ...defaults, ...definition, errors: [...ofParams, ...errors] } as unknown as Defined<D>;
}

/** The response of an operation without a response body. */
export function noContent(description: string) {
  return { status: 204, description, schema: Type.Null(), examples: { Nothing: null } } as const;
}

/**
 * One kind of change in the event log of a shop: the resource and the action. The meaning of a type never
 * changes.
 */
export interface EventType {
  /** Machine-readable: the resource and a verb in the past tense, such as `pet.updated`. */
  readonly type: `${string}.${string}`;
  /** One sentence for the documentation: what happened. */
  readonly meaning: string;
  /** The scope that a key needs to read such events, besides that of the operation. */
  readonly scope?: Scope;
  /** The resource after the change; absent if it was deleted. */
  readonly data?: TObject;
  /** The resource before the change; absent for a new one. If there is `data` too, events hold only what differs. */
  readonly previous?: TObject;
}

export function defineEvent<const E extends EventType>(event: E & NoOthers<E, EventType, "event">): E {
  return event;
}
