import { type SeparateQuota, sandboxQuota } from "../contract/caller.ts";
import type { DisabledTestPanel, Operation } from "../contract/operation.ts";
import { mediaTypesOf, scopeNotice } from "../contract/operation-properties.ts";
import type { Components, Json } from "./openapi-components.ts";
import { clientSnippet, namedExamples } from "./openapi-examples.ts";
import { parametersOf } from "./openapi-parameters.ts";
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
    ...(body
      ? {
          requestBody: {
            required: true,
            content: Object.fromEntries(
              mediaTypesOf(operation).map((type) => [
                type,
                { schema: components.schema(body.schema, "input"), examples: namedExamples(body.examples) },
              ]),
            ),
          },
        }
      : {}),
    responses: responsesOf(operation, operations, components),
    "x-codeSamples": [{ lang: "TypeScript", label: "petstore-client", source: clientSnippet(operation) }],
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
    `${costsNothing} The operations of this group share ${sandboxQuota.perMinute} requests per account and minute of ` +
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
    return {
      "x-scalar-stability": "deprecated",
      "x-badges": [badge(`removed on ${deprecation.removal}`, "#b45309")],
    };
  }
  // Before the summary, where the page shows its own badge for experimental operations.
  if (stability === "beta") return { "x-badges": [{ ...badge("beta", "#2563eb"), position: "before" }] };
  return { "x-scalar-stability": stability };
}

/** Scalar shows `name`, RapiDoc `label`. */
function badge(text: string, color: string): Json {
  return { name: text, label: text, color };
}
