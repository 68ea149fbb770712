import type { TSchema } from "typebox";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf } from "../../src/contract/operation-properties.ts";
import { DISCONNECT } from "../../src/contract/requests.ts";
import { LOCAL_DESCRIPTION } from "../../src/contract/schemas.ts";

/** The keywords of a schema that a form needs. */
interface FormSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly [LOCAL_DESCRIPTION]?: string;
  readonly enum?: readonly string[];
  readonly items?: FormSchema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

/** The operation whose errors the page of the sandbox offers: it has more than most. */
const SAMPLE = "updatePet";

/** Fields that no form of the console shows. */
const hidden = new Set(["confirm", "deliveryId", "expiresAt", "onError", "paused", "price"]);
/** Lists that no form of the console shows, only their longest length. Another field can have the same name. */
const hiddenLists = new Set(["animals", "ids"]);
/** Fields that forms of the console describe in other words, or not. */
const described = new Set([
  "categoryId",
  "description",
  "expiresIn",
  "moveTo",
  "name",
  "petId",
  "scopes",
  "status",
  "types",
]);

/** What staff are told about a field: the contract speaks to programmers. */
const staffWords: Readonly<Record<string, string>> = {
  id: "Only for animals that have the number of a category that does not exist.",
  currency: "What prices are in, such as EUR.",
  reference: "Your own number or name, such as that of a chip or receipt.",
  timeZone: "Where the shop is, such as Europe/Berlin. Its days begin and end there.",
};

/**
 * The console's generated module: scopes, forms, filters and simulations. It is not formatted. Each form is a separate
 * export, so that the bundle omits unused ones.
 */
export function deriveConsole(operations: readonly Operation[]): string {
  const { write: _, ...scopes } = Object.fromEntries(
    [...Map.groupBy(operations, (one) => one.scopes.join(" "))].map(([needed, all]) => [
      needed,
      all.map(({ name }) => name),
    ]),
  );
  const names = operations.map(({ name }) => JSON.stringify(name)).join(" | ");
  const forms = operations.flatMap(({ name, method, body, query }) => [
    ...(body ? [mostOf(name, body.schema) ?? exported(`${name}Body`, "FieldDescription", fieldsOf(body.schema))] : []),
    ...(query && method !== "GET" ? [exported(`${name}Query`, "FieldDescription", fieldsOf(query))] : []),
    ...(query && method === "GET" ? [exported(`${name}Query`, "Filter", filtersOf(query))] : []),
  ]);
  const searches = operations.flatMap(({ query }) => {
    const { search } = (query?.properties ?? {}) as Readonly<Record<string, FormSchema>>;
    return search?.maxLength ?? [];
  });
  const sample = operations.find(({ name }) => name === SAMPLE) as Operation;
  return `// Generated from the contract by \`npm run derive\`.

import type { FieldDescription, Filter } from "../contract.ts";

export type OperationName = ${names};

/** The operations by the scopes that a key must have, separated by spaces. All others need \`write\`. */
export const scopes: Readonly<Record<string, readonly OperationName[]>> = ${JSON.stringify(scopes)};

/** What the service can simulate for a request with \`${sample.method} ${sample.path}\`. */
export const simulations: readonly string[] = ${JSON.stringify([...errorsOf(sample).map(({ code }) => code), DISCONNECT])};

/** How long the text of a search may be. */
export const longestSearch = ${Math.min(...searches)};

${forms.join("\n")}
`;
}

function isMap(type: FormSchema["type"]): boolean {
  return [type].flat().includes("object");
}

function exported(name: string, type: string, fields: readonly Record<string, unknown>[]): string {
  return `export const ${name}: readonly ${type}[] = ${JSON.stringify(fields)};`;
}

/** How many items the list may have that is the body of an operation. */
function mostOf(name: string, schema: TSchema): string | undefined {
  const { properties } = schema as { properties: Record<string, FormSchema> };
  const list = Object.entries(properties).find(([key, { type }]) => type === "array" && hiddenLists.has(key))?.[1];
  return list && `export const ${name}Most = ${list.maxItems};`;
}

function fieldsOf(schema: TSchema): Record<string, unknown>[] {
  const { required = [] } = schema as { required?: readonly string[] };
  return shownIn(schema).map(([name, property]) => fieldOf(name, property, required.includes(name)));
}

function shownIn(schema: TSchema): [name: string, property: FormSchema][] {
  const { properties } = schema as { properties: Record<string, FormSchema> };
  return Object.entries(properties).filter(
    ([name, { type }]) => !hidden.has(name) && !(type === "array" && hiddenLists.has(name)),
  );
}

function choicesOf({ enum: choices, items }: FormSchema): readonly string[] | undefined {
  return choices ?? items?.enum;
}

/** The parameters of a list with a few choices. The console's filters need nothing else. */
function filtersOf(schema: TSchema): Record<string, unknown>[] {
  return shownIn(schema)
    .map(([name, property]) => ({ name, choices: choicesOf(property) }))
    .filter(({ choices }) => choices);
}

function fieldOf(name: string, schema: FormSchema, isRequired: boolean): Record<string, unknown> {
  const { minLength, maxLength, minimum, maximum } = schema;
  return {
    name,
    label: labelOf(name),
    ...(!isMap(schema.type) && !described.has(name) && defined({ hint: staffWords[name] ?? hintOf(schema) })),
    ...defined({ kind: kindOf(schema) }),
    ...(isRequired && schema.default === undefined && { isRequired }),
    ...defined({ choices: choicesOf(schema), preset: schema.default }),
    ...(minLength === 0 && { canBeEmpty: true }),
    ...(!isMap(schema.type) && [schema.type].flat().includes("null") && { isRemovable: true }),
    ...defined({ maxLength, minimum, maximum }),
  };
}

/** What the contract says about a field, without what only programs write. */
const hintOf = (schema: FormSchema) =>
  (schema[LOCAL_DESCRIPTION] ?? schema.description)
    ?.replaceAll("`", "")
    .replace(/; null removes it| Not only blanks\./, "");

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The control that suits the values; undefined for text. Throws a `TypeError` if the console has none. */
function kindOf({ type, format, enum: choices, items }: FormSchema): string | undefined {
  if (choices) return "choice";
  if (items?.enum) return "choices";
  if (isMap(type)) return "pairs";
  if (type === "array" || type === "boolean" || type === "null")
    throw new TypeError(`The console has no control for type ${type}.`);
  if ([type].flat().includes("integer")) return format === "int64" ? "id" : "integer";
  return format === "date-time" ? "time" : undefined;
}

/** `categoryId` is shown as "Category", `expiresIn` as "Expires in", `url` as "URL", `metadata` as "Details". */
function labelOf(name: string): string {
  if (name === "url") return "URL";
  if (name === "metadata") return "Details";
  const words = name.replace(/(?<=.)Ids?$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
