import type { ErrorDefinition } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { errorCatalogue } from "../contract/operation-properties.ts";
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  MAX_DELAY,
  RESPONSE_LIFETIME_HOURS,
  SIMULATE,
} from "../contract/requests.ts";
import { errorTable } from "./markdown.ts";
import { Components, type Json } from "./openapi-components.ts";
import { headerComponents } from "./openapi-headers.ts";
import { operationObject, webhookObject } from "./openapi-operations.ts";

/** An address at which the API is served. */
export interface DocumentedServer {
  readonly url: string;
  readonly description: string;
}

/** The parts of the document other than the operations. */
export interface DocumentedService {
  /** The first one is this service. */
  readonly servers: readonly [DocumentedServer, ...DocumentedServer[]];
  /** The address of the reference page. */
  readonly docs: string;
}

/** The OpenAPI 3.1 document of a list of operations. */
export function deriveOpenApi(operations: readonly Operation[], service: DocumentedService): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = operationObject(operation, operations, components);
  }
  const webhooks = operations.flatMap((operation) =>
    operation.sends ? [[operation.sends.name, { post: webhookObject(operation, components) }] as const] : [],
  );
  return {
    openapi: "3.1.1",
    info: {
      title: "Petstore",
      version: "1.0.0",
      summary: "The animals of a pet store.",
      description: introduction(errorCatalogue(operations)),
      license: { name: "MIT", identifier: "MIT" },
      "x-scalar-sdk-installation": [
        {
          lang: "TypeScript",
          description: "The service's own client keeps integers exact, paces itself and retries safely.",
          source: clientInstallation(service),
        },
      ],
    },
    servers: service.servers.map(({ url, description }) => ({
      url,
      description,
      "x-internal": description !== "production", // true if only the operator's own staff should use it
    })),
    security: [{ bearerAuth: [] }],
    tags: [...new Map(operations.map(({ tag: { name, description } }) => [name, { name, description }])).values()],
    paths,
    webhooks: Object.fromEntries(webhooks),
    components: {
      securitySchemes: {
        bearerAuth: {
          type: "http",
          scheme: "bearer",
          description: "The API key, sent as `Authorization: Bearer <API_KEY>`.",
        },
      },
      ...components.all,
      headers: headerComponents(operations, { ...service, base: service.servers[0].url }),
    },
  };
}

/** How a program gets the client, and an object whose methods the snippets of the operations call. */
function clientInstallation({ docs, servers: [{ url }] }: DocumentedService): string {
  return [
    `npm install ${new URL("client.tgz", docs).href}`,
    "",
    'import { Petstore } from "petstore-client";',
    "",
    "const petstore = new Petstore({",
    '  key: "<API_KEY>",',
    `  baseUrl: "${url}",`,
    "});",
  ].join("\n");
}

/** The document as YAML text. */
export async function openApiYaml(document: Json): Promise<string> {
  const { stringify } = await import("yaml"); // loaded here, so that no start waits for it
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function introduction(catalogue: readonly ErrorDefinition[]): string {
  return [
    "List, add, change, delete and sell the animals of a pet store.",
    "Send your API key as a bearer token with every request. The account's plan limits requests per minute and per day; " +
      "the `X-RateLimit` headers show what is left. After a 429, wait `Retry-After` seconds. A key that keeps sending " +
      "is banned for a while.",
    "## Idempotency",
    `Send a unique \`${IDEMPOTENCY_KEY}\` with every POST and PATCH. If you get no response, or a 408, 502, 503 or 504, ` +
      "send the same request again with the same value. It takes effect once. The service keeps the response for " +
      `${RESPONSE_LIFETIME_HOURS} hours, including errors of the operation, and repeats it with ` +
      `\`${IDEMPOTENT_REPLAYED}: true\`. It does not keep refusals before the operation runs: an ` +
      "invalid request, a missing scope, a limit. Values are separate for each account, mode, method and path. Other " +
      "methods ignore the header.",
    "## Errors",
    "Every error has a body with `code`, `message` and `status`. Codes are permanent.",
    errorTable(catalogue),
    `With a test key, the header \`${SIMULATE}: CODE\` makes an operation return any error that it lists, \`disconnect\` ` +
      `closes the connection without a response, and \`delay=2000\` delays the response by 2000 ms (at most ${MAX_DELAY}).`,
    "## Stability",
    "A `beta` operation may change incompatibly, and an `experimental` one may be removed. Any other is " +
      "deprecated first, with a date of removal.",
    "## Integers and text",
    "Identifiers are text or 64-bit integers. Parse JSON without rounding numbers above 2^53. Text has " +
      "no control characters, U+2028 or U+2029, and no half of a surrogate pair, such as `\\ud83d` alone. Only values of " +
      "metadata and descriptions may have tabs and line breaks.",
  ].join("\n\n");
}
