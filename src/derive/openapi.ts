import type { TObject, TSchema } from "typebox";
import { stringify } from "yaml";
import { errorCatalogue } from "../contract/check.ts";
import { ErrorBody, type ErrorDefinition, invalidRequest } from "../contract/errors.ts";
import { errorsOf, type Operation, type Tag } from "../contract/operation.ts";

type Json = Record<string, unknown>;

export interface Server {
  readonly url: string;
  readonly description: string;
}

const LIMIT_HEADERS: Readonly<Record<string, Json>> = {
  "X-RateLimit-Limit": {
    description: "The applicable request limit: that of the window with the least remaining.",
    schema: { type: "integer", minimum: 1 },
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in the current window.",
    schema: { type: "integer", minimum: 0 },
  },
  "X-RateLimit-Reset": {
    description: "Unix timestamp, in seconds, at which the limit resets.",
    schema: { type: "integer" },
  },
};

const OTHER_HEADERS: Readonly<Record<string, Json>> = {
  "X-Request-Id": {
    description: "Identifies the request in the service's log.",
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    schema: { type: "integer", minimum: 1 },
  },
  "WWW-Authenticate": {
    description: "What is asked of the caller (RFC 6750, section 3).",
    schema: { type: "string" },
  },
  ETag: {
    description: "Entity tag of the answer. Send it back as `If-None-Match` to get 304 while nothing has changed.",
    schema: { type: "string" },
  },
  Location: {
    description: "Address of the new resource.",
    schema: { type: "string", format: "uri" },
  },
  NextLink: {
    description: 'The address of the next page as `rel="next"` (RFC 8288). Absent on the last page.',
    schema: { type: "string" },
  },
  Deprecation: {
    description: "Since when the operation is deprecated, as `@` and unix seconds (RFC 9745).",
    schema: { type: "string" },
  },
  Sunset: {
    description: "When the operation is removed (RFC 8594).",
    schema: { type: "string" },
  },
  DeprecationLink: {
    description: 'The documentation (`rel="deprecation"`) and the replacement (`rel="successor-version"`).',
    schema: { type: "string" },
  },
};

/** Headers that some answers only have at times. */
const OPTIONAL_HEADERS = new Set(["NextLink"]);

/** The OpenAPI 3.1 document of a list of operations. */
export function deriveOpenApi(operations: readonly Operation[], servers: readonly Server[]): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = operationObject(operation, operations, components);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Petstore",
      version: "1.0.0",
      summary: "The animals of a pet store.",
      description: introduction(errorCatalogue(operations)),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: servers.map(({ url, description }) => ({ url, description })),
    security: [{ bearerAuth: [] }],
    tags: tagsOf(operations).map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearerAuth: {
          type: "http",
          scheme: "bearer",
          description: "The API key, sent as `Authorization: Bearer <API_KEY>`.",
        },
      },
      headers: Object.fromEntries(
        Object.entries({ ...LIMIT_HEADERS, ...OTHER_HEADERS }).map(([name, header]) => [
          name,
          { ...header, required: !OPTIONAL_HEADERS.has(name) },
        ]),
      ),
      schemas: components.schemas,
    },
  };
}

/** The document as JSON text, integers beyond 2^53 written exactly. */
export function openApiJson(document: Json): string {
  return JSON.stringify(document, (_key, value: unknown) =>
    typeof value === "bigint" ? JSON.rawJSON(value.toString()) : value,
  );
}

/** The document as YAML text. */
export function openApiYaml(document: Json): string {
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Collects schemas with a title as named components and refers to them. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.refer(part));
    if (typeof schema !== "object" || schema === null) return schema;
    const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, this.refer(part)]));
    const { title } = schema as { title?: unknown };
    if (typeof title !== "string") return parts;
    this.schemas[title] ??= parts;
    return { $ref: `#/components/schemas/${title}` };
  }
}

function tagsOf(operations: readonly Operation[]): Tag[] {
  return [...new Map(operations.map(({ tag }) => [tag.name, tag])).values()];
}

function introduction(catalogue: readonly ErrorDefinition[]): string {
  return [
    "List the animals of a pet store, add one, read one.",
    "Every operation needs an API key as bearer token. The plan of the key's account limits requests per " +
      "minute and per day; the `X-RateLimit` headers of every answer tell how the limits stand. After a 429, " +
      "wait as long as `Retry-After` says: a key that goes on regardless is banned for a while.",
    "## Errors",
    "Every error has a body with `code`, `message` and `status`. Codes are permanent.",
    errorTable(catalogue),
    "## Integers",
    "Identifiers are 64-bit integers. They are written as JSON numbers, digit for digit; read them with a " +
      "parser that does not round above 2^53.",
  ].join("\n\n");
}

/** The catalogue of errors as a Markdown table. */
export function errorTable(catalogue: readonly ErrorDefinition[]): string {
  const rows = catalogue
    .toSorted((one, other) => one.status - other.status || one.code.localeCompare(other.code))
    .map(({ code, status, meaning }) => `| \`${code}\` | ${status} | ${meaning} |`);
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function operationObject(operation: Operation, operations: readonly Operation[], components: Components): Json {
  const { name, summary, tag, body, deprecation, stability, testPanel, scope } = operation;
  return {
    operationId: name,
    summary,
    description: [
      operation.description,
      ...(deprecation ? [deprecationNotice(operation, operations)] : []),
      `Needs a key with the scope \`${scope}\`.`,
    ].join("\n\n"),
    tags: [tag.name],
    ...(deprecation ? { deprecated: true, "x-deprecated-sunset": deprecation.removal } : {}),
    ...(stability === "stable" ? {} : { "x-stability": stability }),
    ...(testPanel ? {} : { "x-hideTryItPanel": true }),
    ...stabilityBadges(operation),
    security: [{ bearerAuth: [] }],
    parameters: parametersOf(operation, components),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: {
              "application/json": { schema: components.refer(body.schema), examples: examples(body.examples) },
            },
          },
        }
      : {}),
    responses: responsesOf(operation, components),
  };
}

function deprecationNotice({ deprecation }: Operation, operations: readonly Operation[]): string {
  const successor = operations.find(({ name }) => name === deprecation?.replacement);
  return (
    `**Deprecated since ${deprecation?.since}, removed on ${deprecation?.removal}.** ${deprecation?.advice} ` +
    `The replacement is \`${successor?.name}\` (\`${successor?.method} ${successor?.path}\`).`
  );
}

/** What the reference page reads to show how stable an operation is. */
function stabilityBadges({ stability, deprecation }: Operation): Json {
  if (deprecation) {
    return {
      "x-scalar-stability": "deprecated",
      "x-badges": [{ name: `removed on ${deprecation.removal}`, color: "#b45309" }],
    };
  }
  if (stability === "beta") return { "x-badges": [{ name: "beta", color: "#2563eb" }] };
  return { "x-scalar-stability": stability };
}

function parametersOf({ params, query }: Operation, components: Components): Json[] {
  const list = (schema: TObject | undefined, place: "path" | "query") =>
    Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description, examples: _, ...rest } = property as Json & { title?: string };
      const isRequired = (schema?.required as string[] | undefined)?.includes(name) ?? false;
      return {
        name,
        in: place,
        required: place === "path" || (isRequired && rest["default"] === undefined),
        description,
        schema: rest.title === undefined ? components.refer(rest) : components.refer(property),
      };
    });
  return [...list(params?.schema, "path"), ...list(query, "query")];
}

function responsesOf(operation: Operation, components: Components): Json {
  const { answer, method, paged, deprecation } = operation;
  const always = [...Object.keys(LIMIT_HEADERS), "X-Request-Id"];
  const ofDeprecation = deprecation ? ["Deprecation", "Sunset", "DeprecationLink"] : [];
  const isCacheable = method === "GET" && answer.status === 200;
  const onSuccess = [...always, ...ofDeprecation, ...(isCacheable ? ["ETag"] : []), ...(paged ? ["NextLink"] : [])];
  const responses: Json = {
    [answer.status]: {
      description: answer.description,
      headers: headerReferences([...onSuccess, ...(answer.location ? ["Location"] : [])]),
      ...(answer.status === 204
        ? {}
        : {
            content: {
              "application/json": { schema: components.refer(answer.schema), examples: examples(answer.examples) },
            },
          }),
    },
  };
  if (isCacheable) {
    responses["304"] = {
      description: "Nothing has changed since the answer whose entity tag was sent as `If-None-Match`.",
      headers: headerReferences(onSuccess),
    };
  }
  for (const [status, errors] of Map.groupBy(errorsOf(operation), (error) => error.status)) {
    responses[status] = errorResponse(status, errors, [...always, ...ofDeprecation], components);
  }
  return responses;
}

function errorResponse(status: number, errors: ErrorDefinition[], headers: string[], components: Components): Json {
  const needsCredential = status === 401 || status === 403;
  return {
    description: errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("\n\n"),
    headers: headerReferences([
      ...headers,
      ...(status === 429 || status === 503 ? ["Retry-After"] : []),
      ...(needsCredential ? ["WWW-Authenticate"] : []),
    ]),
    content: {
      "application/json": {
        schema: components.refer(ErrorBody),
        examples: Object.fromEntries(errors.map((error) => [error.code, { value: errorExample(error) }])),
      },
    },
  };
}

function errorExample(error: ErrorDefinition): ErrorBody {
  const { code, status, meaning } = error;
  const details =
    error === invalidRequest ? { details: [{ path: "/query/limit", message: "must be at most 100" }] } : {};
  return { code, message: meaning, status, ...details };
}

/** `NextLink` and `DeprecationLink` describe what the one header `Link` holds. */
function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(
    names.map((name) => [name.endsWith("Link") ? "Link" : name, { $ref: `#/components/headers/${name}` }]),
  );
}

function examples(named: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(
    Object.entries(named).map(([summary, value]) => [
      summary.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
      { summary, value },
    ]),
  );
}
