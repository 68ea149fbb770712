import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import { type SeparateQuota, sandboxQuota } from "../contract/caller.ts";
import type { DisabledTestPanel, Operation, Webhook } from "../contract/operation.ts";
import { isCacheable, mediaTypesOf, scopeNotice, takesIdempotencyKey } from "../contract/operation-properties.ts";
import { IDEMPOTENCY_KEY, IdempotencyKey } from "../contract/requests.ts";
import { LOCAL_DESCRIPTION } from "../contract/schemas.ts";
import { LAST_EVENT_ID } from "../contract/stream.ts";
import type { Components, Json } from "./openapi-components.ts";
import { clientSnippet, exampleOf, namedExamples } from "./openapi-examples.ts";
import { responsesOf } from "./openapi-responses.ts";

/** The object of an operation in the document. */
export function operationObject(operation: Operation, operations: readonly Operation[], components: Components): Json {
  const { name, summary, tag, body, deprecation, stability, testPanel, scopes } = operation;
  return {
    operationId: name,
    summary,
    description: [
      operation.description,
      ...(deprecation ? [deprecationNotice(operation, operations)] : []),
      scopeNotice(operation),
      ...(operation.separateQuota ? [quotaNotices[operation.separateQuota]] : []),
      ...(testPanel === true ? [] : [noTestPanel(testPanel)]),
    ].join("\n\n"),
    tags: [tag.name],
    ...(deprecation ? { deprecated: true, "x-deprecated-sunset": deprecation.removal } : {}),
    ...(stability === "stable" ? {} : { "x-stability": stability }),
    ...(testPanel === true ? {} : { "x-hideTryItPanel": true }),
    ...stabilityBadges(operation),
    security: [{ bearerAuth: scopes }],
    parameters: parametersOf(operation, operations, components),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: Object.fromEntries(
          mediaTypesOf(operation).map((type) => [
            type,
            { schema: components.schema(body.schema, "input"), examples: namedExamples(body.examples) },
          ]),
        ),
      },
    }),
    responses: responsesOf(operation, operations, components),
    "x-codeSamples": [{ lang: "TypeScript", label: "petstore-client", source: clientSnippet(operation) }],
  };
}

/** The object of the messages that an operation causes. They have no key: the client checks their signature. */
export function webhookObject({ tag, stability, sends }: Operation, components: Components): Json {
  const { name, summary, description, headers, schema, examples, responses } = sends as Webhook;
  return {
    operationId: name,
    summary,
    description,
    tags: [tag.name],
    ...(stability === "stable" ? {} : { "x-stability": stability }),
    security: [],
    parameters: Object.entries<TSchema>(headers.properties).map(([header, property]) => {
      const { description: meaning, ...rest } = property as Json;
      return {
        name: header,
        in: "header",
        required: true,
        description: meaning,
        example: exampleOf(property),
        schema: components.schema(rest, "output"),
      };
    }),
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: components.schema(schema, "output"), examples: namedExamples(examples) },
      },
    },
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, meaning]) => [status, { description: meaning }]),
    ),
  };
}

/** Why the reference page has no test panel for an operation. */
export function noTestPanel({ disabled }: DisabledTestPanel): string {
  return `No test panel: ${disabled}.`;
}

const costsNothing = "Costs no quota, and works during a ban and with no requests left.";
const quotaNotices: Readonly<Record<SeparateQuota, string>> = {
  plan:
    `${costsNothing} Such operations share another limit, as high as the plan's, in each server process. The limit ` +
    "headers show the shop's.",
  sandbox:
    `${costsNothing} Such operations share ${sandboxQuota.perMinute} requests per account and minute of ` +
    "real time. The limit headers show the sandbox's limits, or this one once it is used up.",
};

function deprecationNotice({ deprecation }: Operation, operations: readonly Operation[]): string {
  const successor = operations.find(({ name }) => name === deprecation?.replacement);
  return (
    `**Deprecated since ${deprecation?.since}, removed on ${deprecation?.removal}.** ${deprecation?.advice} ` +
    `The replacement is \`${successor?.name}\` (\`${successor?.method} ${successor?.path}\`).`
  );
}

/** The extension with which the reference page shows the stability of an operation. */
function stabilityBadges({ stability, deprecation }: Operation): Json {
  if (deprecation) {
    return { "x-scalar-stability": "deprecated", "x-badges": [badge(`removed on ${deprecation.removal}`, "#b45309")] };
  }
  // Before the summary, where the page shows its own badge for experimental operations.
  if (stability === "beta") return { "x-badges": [{ ...badge("beta", "#2563eb"), position: "before" }] };
  return { "x-scalar-stability": stability };
}

/** Scalar shows `name`, RapiDoc `label`. */
function badge(text: string, color: string): Json {
  return { name: text, label: text, color };
}

/**
 * The parameters of an operation. Many tools send every parameter with the document's example, or with a value that they
 * make from its schema. So an optional one has an example only if sending it with each request does no harm, and
 * otherwise a default where the contract has one.
 */
function parametersOf(operation: Operation, operations: readonly Operation[], components: Components): Json[] {
  const { params, query, ifMatch, response } = operation;
  const list = (schema: TObject | undefined, place: "path" | "query") =>
    Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description, examples: _, [LOCAL_DESCRIPTION]: localDescription, ...rest } = property as Json;
      const isListed = (schema?.required as string[] | undefined)?.includes(name) ?? false;
      const isRequired = place === "path" || (isListed && rest["default"] === undefined);
      const example = exampleOf(property);
      return {
        name,
        in: place,
        required: isRequired || undefined,
        description: localDescription ?? description,
        explode: rest["items"] ? false : undefined, // a list's items are separated by commas
        example: isRequired ? example : undefined,
        examples: isRequired ? undefined : disabledExample(example),
        schema: components.schema(rest["title"] === undefined ? rest : { ...rest, description }, "input"),
      };
    });
  const inPath = list(params?.schema, "path").map((parameter) =>
    isShared(parameter.name, operations)
      ? components.add("parameters", parameter.name.charAt(0).toUpperCase() + parameter.name.slice(1), parameter)
      : parameter,
  );
  return [
    ...inPath,
    ...list(query, "query"),
    ...(isCacheable(operation) ? [components.add("parameters", "IfNoneMatch", ifNoneMatch)] : []),
    ...(response.stream ? [lastEventId] : []),
    ...(ifMatch ? [components.add("parameters", "IfMatch", ifMatchParameter)] : []),
    ...(takesIdempotencyKey(operation)
      ? [components.add("parameters", "IdempotencyKey", idempotencyKey(components))]
      : []),
  ];
}

/**
 * The example of an optional parameter. The reference page sends every parameter with an example, a default or an enum,
 * unless `x-disabled` keeps it back: otherwise the first request would have filters that nobody chose.
 */
function disabledExample(value: unknown): Json | undefined {
  return value === undefined || value === "" ? undefined : { example: { value, "x-disabled": true } };
}

/** True if a path parameter of this name is the same wherever there is one. */
function isShared(name: string, operations: readonly Operation[]): boolean {
  const [first, ...others] = operations.flatMap(({ params }) => params?.schema.properties[name] ?? []);
  return others.every((other) => isDeepStrictEqual(first, other));
}

function idempotencyKey(components: Components): Json {
  const { description, ...schema } = IdempotencyKey as TSchema as Json;
  return { name: IDEMPOTENCY_KEY, in: "header", description, schema: components.schema(schema, "input") };
}

const ifNoneMatch: Json = {
  name: "If-None-Match",
  in: "header",
  description:
    "The `ETag` of an earlier response, several of them separated by commas, or `*`. If it still applies, the " +
    "response is 304 without a body (RFC 9110, section 13.1.2). It still costs quota.",
  schema: { type: "string" },
};

/** The header is no parameter of the document: generators of clients give both one name. */
const lastEventId: Json = {
  name: LAST_EVENT_ID.query,
  in: "query",
  description:
    "The `id` of the last event that the client has received. The stream continues after it. Clients for server-sent " +
    `events send it as the header \`${LAST_EVENT_ID.header}\`.`,
  schema: { type: "integer", format: "int64", minimum: 0 },
};

const ifMatchParameter: Json = {
  name: "If-Match",
  in: "header",
  description:
    "The `ETag` of the resource when the client read it, several of them separated by commas, or `*` for any version. " +
    "If the resource has changed since, nothing is done (RFC 9110, section 13.1.1).",
  schema: { type: "string", minLength: 1, default: "*" },
};
