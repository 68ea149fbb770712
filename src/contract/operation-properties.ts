import type { TObject } from "typebox";
import type { Caller, SeparateQuota } from "./caller.ts";
import type { ErrorDefinition } from "./errors.ts";
import * as errors from "./errors.ts";
import type { Operation } from "./operation.ts";
import { SECRET } from "./schemas.ts";

/** True for an operation that, sent again, could do twice what it does (RFC 9110, section 9.2.2). */
export function takesIdempotencyKey({ method }: Operation): boolean {
  return method === "POST" || method === "PATCH";
}

/** Every error that an operation can return, its own first, without repetition. */
export function errorsOf(operation: Operation): readonly ErrorDefinition[] {
  return [
    ...new Set([
      ...operation.errors,
      errors.invalidRequest, // also without parameters: an unknown query parameter is refused
      errors.missingApiKey,
      errors.invalidApiKey,
      errors.accountSuspended,
      ...(operation.scopes.length > 0 ? [errors.insufficientScope] : []),
      ...(operation.deprecation ? [errors.operationRemoved] : []),
      // 408 and 413: any request except a GET may have a body, even if the operation needs none. 409: only a change
      // can wait for a reset.
      ...(operation.method === "GET" ? [] : [errors.requestTimeout, errors.payloadTooLarge, errors.sandboxWasReset]),
      ...(operation.body ? [errors.unsupportedMediaType] : []),
      ...(takesIdempotencyKey(operation) ? [errors.idempotencyKeyInUse, errors.idempotencyKeyReused] : []),
      errors.rateLimitExceeded,
      ...(operation.separateQuota === "plan" ? [] : [errors.keyBanned]),
      ...(operation.response.stream ? [errors.tooManyStreams, errors.streamsExhausted] : []),
      errors.internalError,
      errors.overloaded,
      errors.storageUnavailable,
    ]),
  ];
}

/** All error codes: first those of the service, then those of the operations. */
export function errorCatalogue(operations: readonly Operation[]): readonly ErrorDefinition[] {
  return [...new Set([...errors.serviceErrors, ...operations.flatMap(errorsOf)])];
}

/** The separate limit that a request counts towards; undefined if the normal limits apply. */
export function separateQuotaOf(
  operation: Operation | undefined,
  { mode }: Pick<Caller, "mode">,
): SeparateQuota | undefined {
  return operation?.separateQuota === "sandbox" && mode === "live" ? undefined : operation?.separateQuota;
}

/** The sentence that says which keys may use an operation. */
export function scopeNotice({ scopes }: Operation): string {
  if (scopes.length === 0) return "Any valid key may use it.";
  const names = scopes.map((scope) => `\`${scope}\``).join(" and ");
  return `Needs a key with the scope${scopes.length === 1 ? "" : "s"} ${names}.`;
}

/** The operations that do something with the item of a path: `/orders/{orderId}/cancel` of `/orders/{orderId}`. */
export function actionsOf(path: string, operations: readonly Operation[]): readonly Operation[] {
  return operations.filter(
    (one) => one.method === "POST" && one.path.startsWith(`${path}/`) && /^\/[^/{]+$/.test(one.path.slice(path.length)),
  );
}

/** The media types of the body, preferred first; empty if there is no body. */
export function mediaTypesOf({ method, body }: Operation): readonly string[] {
  if (!body) return [];
  return method === "PATCH" ? ["application/merge-patch+json", "application/json"] : ["application/json"];
}

/** The value of `Accept-Patch` (RFC 5789, section 3.1): the media types of the body of a `PATCH`; else empty. */
export function acceptPatch(operation: Operation | undefined): string {
  return operation?.method === "PATCH" ? mediaTypesOf(operation).join(", ") : "";
}

/** The media type of the success response. */
export function responseType({ response }: Operation): "application/json" | "text/event-stream" {
  return response.stream ? "text/event-stream" : "application/json";
}

/** True if a client can send the entity tag of a response as `If-None-Match`. */
export function isCacheable({ method, response }: Operation): boolean {
  return method === "GET" && response.status === 200 && !response.stream;
}

/** True if the success response has an entity tag (RFC 9110, section 8.8.3). */
export function hasEntityTag(operation: Operation): boolean {
  return isCacheable(operation) || operation.response.entityTag === true;
}

/** True if its response shows a secret. It is shown once: no cache keeps it, and it is encrypted if it is stored for retries. */
export function showsSecret({ response }: Operation): boolean {
  const { properties = {} } = response.schema as Partial<TObject>;
  return Object.values(properties).some((property) => SECRET in property);
}

/** First moment of a deprecation date, in Unix seconds. */
export function dateToUnixSeconds(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1000;
}

/** Names of the path parameters, in order: `/pets/{petId}` has `petId`. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] as string);
}

/** Returns a path with its parameters filled in, percent-encoded (RFC 3986). */
export type FillPath = (values: Readonly<Record<string, unknown>>) => string;

/** `path` is like `/pets/{id}`. */
export function compileFillPath(path: string): FillPath {
  const parts = path.split(/\{([^}]*)\}/); // alternates fixed text and names
  if (parts.length === 1) return () => path;
  return (values) => {
    let filled = parts[0] as string;
    for (let index = 1; index < parts.length; index += 2) {
      filled += encodeURIComponent(String(values[parts[index] as string])) + (parts[index + 1] as string);
    }
    return filled;
  };
}

/** The headers of a deprecated operation; undefined for another. `base` is the base address, `docs` the reference page. */
export function deprecationHeaders(
  operation: Operation,
  operations: readonly Operation[],
  { base, docs }: { readonly base: string; readonly docs: string },
) {
  const { deprecation } = operation;
  if (!deprecation) return undefined;
  const documentation = `${docs}#${operationAnchor(operation)}`;
  const { since, removal, replacement } = deprecation;
  const successor = operations.find(({ name }) => name === replacement);
  return {
    Deprecation: `@${dateToUnixSeconds(since)}`, // RFC 9745, a structured date
    Sunset: new Date(dateToUnixSeconds(removal) * 1000).toUTCString(), // RFC 8594
    Link: `<${documentation}>; rel="deprecation"; type="text/html", <${base}${successor?.path}>; rel="successor-version"`,
  };
}

/** The anchor of an operation on the reference page. */
export function operationAnchor({ tag, name }: Operation): string {
  return `tag/${tag.name}/${name}`;
}

/** The operations of one path below the base address, by method. */
export interface PathOperations<O extends Operation> {
  /** The path as the router writes it: `/pets/:petId`. */
  readonly pattern: string;
  readonly methods: ReadonlyMap<string, O>;
  /** The value of `Allow` (RFC 9110, section 10.2.1): HEAD comes with GET, OPTIONS with every path. */
  readonly allow: string;
}

/** Groups operations by path. */
export function derivePaths<O extends Operation>(operations: readonly O[]): PathOperations<O>[] {
  const byPattern = Map.groupBy(operations, ({ path }) => path.replaceAll(/\{([^}]*)\}/g, ":$1"));
  return [...byPattern].map(([pattern, group]) => {
    const methods = new Map<string, O>(group.map((operation) => [operation.method, operation]));
    const names = [...methods.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return { pattern, methods, allow: [...names, "OPTIONS"].join(", ") };
  });
}
