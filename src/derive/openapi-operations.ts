import type { TObject, TSchema } from "typebox";
import { ErrorBody, type ErrorDefinition, idempotencyKeyInUse, invalidRequest } from "../contract/errors.ts";
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, IdempotencyKey } from "../contract/idempotency-key.ts";
import {
  type DisabledTestPanel,
  errorsOf,
  hasEntityTag,
  isCacheable,
  mediaTypesOf,
  type Operation,
  takesIdempotencyKey,
} from "../contract/operation.ts";
import { headerReferences, headersOfAll } from "./openapi-headers.ts";
import type { Schemas } from "./openapi-schemas.ts";

type Json = Record<string, unknown>;

/** The object of an operation in the document. Schemas with a title become components. */
export function operationObject(operation: Operation, operations: readonly Operation[], schemas: Schemas): Json {
  const { name, summary, tag, body, deprecation, stability, testPanel, scope } = operation;
  return {
    operationId: name,
    summary,
    description: [
      operation.description,
      ...(deprecation ? [deprecationNotice(operation, operations)] : []),
      scope === "any" ? "Any valid key may use it." : `Needs a key with the scope \`${scope}\`.`,
      ...(operation.quota === "free" ? [freeNotice] : []),
      ...(testPanel === true ? [] : [noTestPanel(testPanel)]),
    ].join("\n\n"),
    tags: [tag.name],
    ...(deprecation ? { deprecated: true, "x-deprecated-sunset": deprecation.removal } : {}),
    ...(stability === "stable" ? {} : { "x-stability": stability }),
    ...(testPanel === true ? {} : { "x-hideTryItPanel": true }),
    ...stabilityBadges(operation),
    security: [{ bearerAuth: [] }],
    parameters: parametersOf(operation, schemas),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              mediaTypesOf(operation).map((type) => [
                type,
                { schema: schemas.refer(body.schema), examples: examples(body.examples) },
              ]),
            ),
          },
        }
      : {}),
    responses: responsesOf(operation, schemas),
  };
}

/** Why the reference page has no test panel for an operation. */
export function noTestPanel({ disabled }: DisabledTestPanel): string {
  return `No test panel: ${disabled}.`;
}

const freeNotice =
  "Costs no quota, and answers also while the key is banned or the windows are used up. It may be sent as " +
  "often as the account's plan allows, counted apart; the limit headers are those of the account.";

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
  // Before the summary, where the page puts its own mark of what is experimental.
  if (stability === "beta") return { "x-badges": [{ name: "beta", color: "#2563eb", position: "before" }] };
  return { "x-scalar-stability": stability };
}

function parametersOf(operation: Operation, schemas: Schemas): Json[] {
  const { params, query, ifMatch } = operation;
  const list = (schema: TObject | undefined, place: "path" | "query") =>
    Object.entries<TSchema>(schema?.properties ?? {}).map(([name, property]) => {
      const { description, examples: _, ...rest } = property as Json & { title?: string };
      const isRequired = (schema?.required as string[] | undefined)?.includes(name) ?? false;
      return {
        name,
        in: place,
        required: place === "path" || (isRequired && rest["default"] === undefined),
        description,
        explode: rest["items"] ? false : undefined, // a list's items are separated by commas
        schema: rest.title === undefined ? schemas.refer(rest) : schemas.refer(property),
      };
    });
  return [
    ...list(params?.schema, "path"),
    ...list(query, "query"),
    ...(ifMatch ? [ifMatchParameter] : []),
    ...(takesIdempotencyKey(operation) ? [idempotencyKeyParameter()] : []),
  ];
}

function idempotencyKeyParameter(): Json {
  const { description, examples: _, ...schema } = IdempotencyKey as Json & typeof IdempotencyKey;
  return { name: IDEMPOTENCY_KEY, in: "header", required: false, description, schema };
}

const ifMatchParameter: Json = {
  name: "If-Match",
  in: "header",
  required: false,
  description:
    "The `ETag` of the resource as the client knows it, or several of them, or `*`. If it has another one " +
    "by now, nothing is changed (RFC 9110, section 13.1.1).",
  schema: { type: "string" },
};

function responsesOf(operation: Operation, schemas: Schemas): Json {
  const { answer, paged, deprecation } = operation;
  const ofDeprecation = deprecation ? ["Deprecation", "Sunset", "DeprecationLink"] : [];
  const ofReplay = takesIdempotencyKey(operation) ? [IDEMPOTENT_REPLAYED] : [];
  const onSuccess = [
    ...headersOfAll,
    ...ofDeprecation,
    ...(hasEntityTag(operation) ? ["ETag"] : []),
    ...(paged ? ["NextLink"] : []),
  ];
  const responses: Json = {
    [answer.status]: {
      description: answer.description,
      headers: headerReferences([...onSuccess, ...(answer.location ? ["Location"] : []), ...ofReplay]),
      ...(answer.status === 204
        ? {}
        : {
            content: {
              "application/json": { schema: schemas.refer(answer.schema), examples: examples(answer.examples) },
            },
          }),
    },
  };
  if (isCacheable(operation)) {
    responses["304"] = {
      description: "Nothing has changed since the answer whose entity tag was sent as `If-None-Match`.",
      headers: headerReferences(onSuccess),
    };
  }
  for (const [status, errors] of Map.groupBy(errorsOf(operation), (error) => error.status)) {
    const canBeReplay = errors.some((error) => operation.errors.includes(error));
    const headers = [...headersOfAll, ...ofDeprecation, ...(canBeReplay ? ofReplay : [])];
    responses[status] = errorResponse(status, errors, headers, schemas);
  }
  return responses;
}

function errorResponse(status: number, errors: ErrorDefinition[], headers: string[], schemas: Schemas): Json {
  const needsCredential = status === 401 || status === 403;
  return {
    description: errors.map(({ code, meaning }) => `\`${code}\`: ${meaning}`).join("\n\n"),
    headers: headerReferences([
      ...headers,
      ...(status === 429 || status === 503 ? ["Retry-After"] : []),
      ...(errors.includes(idempotencyKeyInUse) ? ["RunningRetryAfter"] : []),
      ...(needsCredential ? ["WWW-Authenticate"] : []),
    ]),
    content: {
      "application/json": {
        schema: schemas.refer(ErrorBody),
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

function examples(named: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(
    Object.entries(named).map(([summary, value]) => [
      summary.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
      { summary, value },
    ]),
  );
}
