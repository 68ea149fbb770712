import type { TObject } from "typebox";
import {
  ErrorBody,
  type ErrorDefinition,
  idempotencyKeyInUse,
  insufficientScope,
  invalidRequest,
  methodNotAllowed,
  operationRemoved,
  originNotAllowed,
  pathNotFound,
  preconditionFailed,
  serviceErrors,
} from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import {
  errorsOf,
  hasEntityTag,
  isCacheable,
  pathParameters,
  responseType,
  takesIdempotencyKey,
} from "../contract/operation-properties.ts";
import type { Components, Json } from "./openapi-components.ts";
import { namedExamples } from "./openapi-examples.ts";
import { headerReferences, headersOfAll } from "./openapi-headers.ts";

/** The responses of an operation. Those of errors, and 304, are components, because operations share them. */
export function responsesOf(operation: Operation, operations: readonly Operation[], components: Components): Json {
  const { response, paged, deprecation } = operation;
  const headersOfSuccessAnd304 = [
    ...headersOf(operation),
    ...(hasEntityTag(operation) ? ["ETag"] : []),
    ...(paged ? ["NextLink"] : []),
  ];
  const headersOfSuccessOnly = [
    ...(response.location ? ["Location"] : []),
    ...(takesIdempotencyKey(operation) ? ["Replayed"] : []),
  ];
  const links = linksOf(operation, operations, components);
  const responses: Json = {
    [response.status]: {
      description: response.description + streamNotice(operation),
      headers: headerReferences([...headersOfSuccessAnd304, ...headersOfSuccessOnly]),
      ...(response.status !== 204 && {
        content: {
          [responseType(operation)]: {
            schema: components.schema(boundedSchema(operation), "output"),
            examples: namedExamples(response.examples),
          },
        },
      }),
      ...(Object.keys(links).length > 0 ? { links } : {}),
    },
  };
  if (isCacheable(operation)) {
    const name = `${deprecation ? "Deprecated" : ""}NotModified${paged ? "Page" : ""}`;
    responses["304"] = components.add("responses", name, {
      description: "Nothing has changed since the response with this entity tag (`If-None-Match`).",
      headers: headerReferences(headersOfSuccessAnd304),
    });
  }
  for (const [status, errors] of Map.groupBy(errorsOf(operation), (error) => error.status)) {
    responses[status] = errorResponse(operation, operations, status, errors.toSorted(byOrigin), components);
  }
  return responses;
}

/** The headers of every response of the operation. */
function headersOf({ deprecation }: Operation): readonly string[] {
  return deprecation ? [...headersOfAll, "Deprecation", "Sunset", "DeprecationLink"] : headersOfAll;
}

/** Describes the format of a stream, because OpenAPI 3.1 can describe only one event. */
function streamNotice({ response: { stream } }: Operation): string {
  if (!stream) return "";
  return (
    ` Server-sent events (HTML standard): the \`data\` of each is JSON of this schema, \`id\` is its \`${stream.id}\` ` +
    `and \`event\` its \`${stream.event}\`.`
  );
}

/** The schema of the success response. A page holds at most as many items as the maximum of `limit`. */
function boundedSchema({ paged, query, response }: Operation): object {
  const { maximum } = (query?.properties["limit"] ?? {}) as { maximum?: number };
  return paged && maximum !== undefined ? { ...response.schema, maxItems: maximum } : response.schema;
}

/** Sorts errors of operations before those of the service, so that the same errors always get the same name. */
function byOrigin(one: ErrorDefinition, other: ErrorDefinition): number {
  return serviceErrors.indexOf(one) - serviceErrors.indexOf(other) || one.code.localeCompare(other.code);
}

function errorResponse(
  operation: Operation,
  operations: readonly Operation[],
  status: number,
  errors: readonly ErrorDefinition[],
  components: Components,
): Json {
  const names = namesOfErrors(operation, operations, status, errors);
  // Only what a handler can return is stored and replayed; some return `invalidRequest`. The header is declared for a GET
  // too, which never sends it, because operations share the component.
  const isReplayed = errors.some((error) => error === invalidRequest || !serviceErrors.includes(error));
  const meanings = errors.map(({ code, meaning }) => (errors.length > 1 ? `\`${code}\`: ${meaning}` : meaning));
  return components.add("responses", names.response, {
    description: meanings.join("\n\n"),
    headers: headerReferences([
      ...headersOf(operation),
      ...(isReplayed ? ["Replayed"] : []),
      ...(status === 429 || status === 503 ? ["RetryAfter"] : []),
      ...(errors.includes(idempotencyKeyInUse) ? ["RunningRetryAfter"] : []),
      ...(status === 401 ? ["Challenge"] : []),
      ...(status === 415 ? ["AcceptPatch"] : []),
      ...(errors.includes(insufficientScope) ? ["ScopeChallenge"] : []),
    ]),
    content: {
      "application/json": {
        schema: errorSchema(names.schema, status, errors, components),
        examples: Object.fromEntries(
          errors.map((error) => [error.code, components.add("examples", error.code, { value: errorExample(error) })]),
        ),
      },
    },
  });
}

/** The statuses of errors as parts of names (RFC 9110, section 15). */
const statusNames: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  408: "RequestTimeout",
  409: "Conflict",
  410: "Gone",
  412: "PreconditionFailed",
  413: "ContentTooLarge",
  415: "UnsupportedMediaType",
  422: "UnprocessableContent",
  429: "TooManyRequests",
  500: "InternalServerError",
  503: "ServiceUnavailable",
};

/** Errors of paths that are no operation's, or of some operations only. */
const rare = new Set<ErrorDefinition>([pathNotFound, methodNotAllowed, originNotAllowed, operationRemoved]);
/** What any operation can return, apart from the errors that it declares. */
const common = [...serviceErrors.filter((error) => !rare.has(error)), preconditionFailed];

/**
 * The names of a response and its schema: `Conflict` for the errors that any operation can return, else
 * `CreatePetConflict`, after the first operation that has these errors. Types of clients get these names, so they name
 * no code: a new code renames none of them.
 */
function namesOfErrors(
  operation: Operation,
  operations: readonly Operation[],
  status: number,
  errors: readonly ErrorDefinition[],
): { readonly response: string; readonly schema: string } {
  const areErrors = (others: readonly ErrorDefinition[]) =>
    new Set(errors).symmetricDifference(new Set(others.filter((other) => other.status === status))).size === 0;
  const title = statusNames[status] ?? `Status${status}`;
  if (areErrors(common)) return { response: (operation.deprecation ? "Deprecated" : "") + title, schema: title };
  const nameOf = ({ name }: Operation) => name.charAt(0).toUpperCase() + name.slice(1) + title;
  const first = operations.find((other) => !other.deprecation && areErrors(errorsOf(other))) ?? operation;
  return { response: nameOf(operation.deprecation ? operation : first), schema: nameOf(first) };
}

/** The Error schema with the codes that it can have here, so that a client's compiler knows them all. */
function errorSchema(name: string, status: number, errors: readonly ErrorDefinition[], components: Components) {
  return components.add("schemas", name.endsWith("Error") ? name : `${name}Error`, {
    description: `A ${status} error.`,
    allOf: [
      components.schema(ErrorBody, "output"),
      { type: "object", properties: { code: { type: "string", enum: errors.map(({ code }) => code) } } },
    ],
  });
}

function errorExample(error: ErrorDefinition): ErrorBody {
  const { code, status, meaning } = error;
  const details =
    error === invalidRequest ? { details: [{ path: "/query/limit", message: "must be at most 100" }] } : {};
  return { code, message: meaning, status, ...details };
}

/**
 * What a client can do next with a success response, as OpenAPI links: operations on the resource that it holds, and
 * operations that get a resource whose id it holds in a field with the name of the path parameter, such as `petId`.
 */
function linksOf(operation: Operation, operations: readonly Operation[], components: Components): Json {
  const fields = Object.keys((operation.response.schema as TObject).properties ?? {});
  const collection = collectionOf(operation, operations);
  const targets = operations.filter(({ name }) => name !== operation.name);
  return Object.fromEntries(
    targets.flatMap((target) => {
      const [parameter, ...others] = pathParameters(target.path);
      if (parameter === undefined || others.length > 0) return [];
      const isOnResource = collection !== undefined && `${target.path}/`.startsWith(`${collection}/{${parameter}}/`);
      const isReference =
        target.method === "GET" && target.path.endsWith(`/{${parameter}}`) && fields.includes(parameter);
      const field = isOnResource ? "id" : isReference ? parameter : undefined;
      return field === undefined ? [] : [[target.name, link(target, parameter, field, components)]];
    }),
  );
}

/** The path to which a POST adds a resource like that of the response, and returns its `id`; undefined if there is none. */
function collectionOf({ response }: Operation, operations: readonly Operation[]): string | undefined {
  const adding = operations.find(
    (other) =>
      other.method === "POST" &&
      other.response.status === 201 &&
      other.response.schema === response.schema &&
      "id" in ((response.schema as TObject).properties ?? {}),
  );
  return adding?.path;
}

function link({ name }: Operation, parameter: string, field: string, components: Components) {
  const part = field.charAt(0).toUpperCase() + field.slice(1);
  return components.add("links", `${name}By${part}`, {
    operationId: name,
    parameters: { [parameter]: `$response.body#/${field}` },
  });
}
