import type { TObject, TSchema } from "typebox";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf, pathParameters, scopeNotice, takesIdempotencyKey } from "../../src/contract/operation-properties.ts";
import { deriveExamples } from "./client-examples.ts";
import { ClientTypes, comment } from "./client-types.ts";

const generated = "// Generated from the contract by `npm run derive`.\n";

/** The generated modules of the TypeScript client, by file name. They are not formatted. */
export function deriveClient(operations: readonly Operation[], document: unknown): Readonly<Record<string, string>> {
  const types = new ClientTypes();
  const methods = operations.map((operation) => method(operation, operations, types));
  for (const { sends } of operations) if (sends) types.of(sends.schema, "output");
  const inputs = operations.flatMap(({ name, query }) => (query ? [queryType(name, query, types)] : []));
  return {
    "examples.ts": generated + deriveExamples(operations, document),
    "fields.ts": `${generated}
/**
 * Matches the names of the fields that hold 64-bit integers: those of the contract, and every name that ends in \`Id\`,
 * because later releases may add fields and types of events.
 */
export const int64Field = ${types.bigintFields};
`,
    "operations.ts": `${generated}
import { Client } from "./client.ts";
import type { ClientErrorCode } from "./errors.ts";
import type { IdKind, IdOf, Int64 } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions } from "./options.ts";
import type { Pages } from "./pages.ts";
import type { NoContent, Result } from "./response.ts";

${[...types.declarations, ...inputs, errorCodes(operations)].join("\n\n")}

/** A client of the service: one method for each operation. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- \`define\` makes the methods
export class Petstore<Ids extends IdKind = "bigint"> extends Client<Ids> {
  static {
    this.define(\`
${operations.map(row).join("\n")}\`);
  }
}
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- \`define\` has made these methods
export interface Petstore<Ids extends IdKind> {
${methods.join("\n\n")}
}
`,
  };
}

/** The row of an operation in the client's table. `define` in client/src/client.ts describes the format. */
function row({ name, method: verb, path, body, query, paged, separateQuota, response }: Operation): string {
  const parts = {
    b: body,
    q: query,
    l: paged,
    e: response.stream,
    f: separateQuota === "plan",
    s: separateQuota === "sandbox",
  };
  const letters = Object.entries(parts).flatMap(([letter, part]) => (part ? [letter] : []));
  return `${path.replaceAll(/\{\w+\}/g, "*")} ${verb}${letters.join("")} ${name}`;
}

function queryType(name: string, query: TObject, types: ClientTypes): string {
  const type = types.of(query, "input");
  return `/** The query of \`${name}\`. */\nexport interface ${queryName(name)} ${type}`;
}

const queryName = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}Query`;

function union(codes: readonly string[]): string {
  const sorted = [...new Set(codes)].toSorted();
  return sorted.map((code) => JSON.stringify(code)).join(" | ");
}

/** The error codes of each operation. Shared codes are written once. */
function errorCodes(operations: readonly Operation[]): string {
  const codes = new Map(operations.map((operation) => [operation.name, errorsOf(operation).map(({ code }) => code)]));
  const [first = [], ...others] = codes.values();
  const shared = first.filter((code) => others.every((list) => list.includes(code)));
  const own = [...codes].map(([name, list]) => {
    const rest = union(list.filter((code) => !shared.includes(code)));
    return `${name}: SharedErrorCode${rest && ` | ${rest}`};`;
  });
  return (
    `/** Codes of errors that every operation can fail with. */\nexport type SharedErrorCode = ClientErrorCode | ${union(shared)};\n\n` +
    `/** The codes of the errors that each operation can fail with. */\nexport interface ErrorCodes {\n${own.join("\n")}\n}`
  );
}

/** The method of an operation: path parameters, the body, the query and the options, as far as it has them. */
function method(operation: Operation, operations: readonly Operation[], types: ClientTypes): string {
  const { name, path, params, body, query, paged } = operation;
  const kind = kindOf(operation, types);
  const parameters = pathParameters(path).map((parameter) => {
    const schema = params?.schema.properties[parameter] as TSchema;
    return `${parameter}: ${types.of(schema, "input")}`;
  });
  const bodyType = body && types.of(body.schema, "input");
  const isNarrowed = operation.response.narrowed !== undefined;
  if (body) parameters.push(`body${body.optional ? "?" : ""}: ${isNarrowed ? "Body" : bodyType}`);
  if (query) {
    const isOptional = !(query.required ?? []).some((key) => !("default" in (query.properties[key] as object)));
    const narrowed = kind && ` & { readonly type?: readonly Type[] | undefined }`;
    parameters.push(`query${isOptional ? "?" : ""}: ${queryName(name)}${narrowed ?? ""}`);
  }
  parameters.push(`options?: ${optionsType(operation)}`);
  const result = paged ? pagesType(operation, types) : resultType(operation, types);
  return `${comment(methodDoc(operation, operations))}${name}${kind ? `<Type extends ${kind} = ${kind}>` : isNarrowed ? `<const Body extends ${bodyType}>` : ""}(${parameters.join(", ")}): ${result};`;
}

/** The type of the query's filter `type`, which narrows the type of the items. Undefined if there is no such filter. */
function kindOf({ query }: Operation, types: ClientTypes): string | undefined {
  const { items } = (query?.properties["type"] ?? {}) as { readonly items?: TSchema };
  return items && types.of(items, "input");
}

/** The type of the items of a list or stream. */
function itemType(operation: Operation, schema: TSchema, types: ClientTypes): string {
  const type = idOf(types.of(schema, "output"));
  return kindOf(operation, types) ? `Extract<${type}, { readonly type: Type }>` : type;
}

/** Replaces `Id` in result types with the id type that the client was created with. */
const idOf = (type: string) => type.replaceAll(/\bId\b/g, "IdOf<Ids>");

function resultType(operation: Operation, types: ClientTypes): string {
  const { response } = operation;
  if (response.status === 204) return "Promise<NoContent>";
  if (response.stream) return `AsyncGenerator<${itemType(operation, response.schema, types)}, never, void>`;
  const { schema, narrowed } = response;
  const [type, narrow] = [schema, narrowed?.schema].map((one) => one && idOf(types.of(one, "output")));
  const result = narrowed ? `Body extends { readonly ${narrowed.by}: true } ? ${narrow} : ${type}` : type;
  return `Promise<Result<${result}>>`;
}

function pagesType(operation: Operation, types: ClientTypes): string {
  const { items } = operation.response.schema as unknown as { items: TSchema };
  return `Pages<${itemType(operation, items, types)}>`;
}

function optionsType(operation: Operation): string {
  const options = takesIdempotencyKey(operation) ? "OnceOptions" : "CallOptions";
  return operation.ifMatch ? `${options} & IfMatch` : options;
}

function methodDoc(operation: Operation, operations: readonly Operation[]): string[] {
  const { summary, description, stability, deprecation, separateQuota } = operation;
  const successor = operations.find(({ name }) => name === deprecation?.replacement);
  return [
    `${summary}${stability === "stable" ? "" : ` (${stability})`}.`,
    description,
    scopeNotice(operation),
    ...(separateQuota === "plan" ? ["Costs no quota."] : []),
    ...(deprecation
      ? [
          `@deprecated since ${deprecation.since}, removed on ${deprecation.removal}: use ` +
            `\`${successor?.name ?? deprecation.replacement}\`.`,
        ]
      : []),
  ];
}
