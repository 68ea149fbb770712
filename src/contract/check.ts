import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import { scopes } from "./caller.ts";
import { ErrorBody, type ErrorDefinition, preconditionFailed, retiredCodes, serviceErrors } from "./errors.ts";
import { unknownKeyFaults } from "./known-keys.ts";
import type { Operation } from "./operation.ts";
import { dateToUnixSeconds, errorsOf, pathParameters } from "./operation-properties.ts";
import { isInt64, LOCAL_DESCRIPTION } from "./schemas.ts";
import { didYouMean, suggest } from "./suggest.ts";
import { compileValidator } from "./validators.ts";

/** A contract that cannot be served. `faults` lists all that is wrong with it, not just the first. */
export class ContractError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The contract has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ContractError";
    this.faults = faults;
  }
}

/** All error codes: first those of the service, then those of the operations. */
export function errorCatalogue(operations: readonly Operation[]): readonly ErrorDefinition[] {
  return [...new Set([...serviceErrors, ...operations.flatMap(errorsOf)])];
}

/** Throws a `ContractError` with all faults, if there are any. */
export function checkContract(operations: readonly Operation[]): void {
  const faults = contractFaults(operations);
  if (faults.length > 0) throw new ContractError(faults);
}

/** All faults of a list of operations, each as one sentence that names the operation. */
export function contractFaults(operations: readonly Operation[]): string[] {
  return [
    ...repeated(operations.map((operation) => operation.name)).map(
      (name) => `${name}: two operations have this name; rename one.`,
    ),
    ...repeated(operations.map(routeKey)).map((route) => {
      const names = operations.filter((operation) => routeKey(operation) === route).map(({ name }) => name);
      return `${route}: ${names.join(" and ")} have this method and path; change one.`;
    }),
    ...errorFaults(errorCatalogue(operations)),
    ...schemaFaults(operations),
    ...tagFaults(operations),
    ...operations.flatMap((operation) =>
      operationFaults(operation, operations).map((fault) => `${operation.name}: ${fault}`),
    ),
  ];
}

/** Two paths that differ in the names of their parameters only are the same route. */
function routeKey(operation: Operation): string {
  return `${operation.method} ${operation.path.replaceAll(/\{[^}]*\}/g, "{}")}`;
}

function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

function errorFaults(catalogue: readonly ErrorDefinition[]): string[] {
  return [
    ...repeated(catalogue.map((error) => error.code)).map(
      (code) => `${code}: two errors have this code; define it once and import it, or rename one.`,
    ),
    ...catalogue.flatMap(({ code, status, meaning }) => [
      ...(/^[a-z]+(_[a-z]+)*$/.test(code)
        ? []
        : [`${code}: an error code is written in snake_case, like pet_not_found.`]),
      ...(Number.isInteger(status) && status >= 400 && status <= 599
        ? []
        : [`${code}: ${status} is not the status of an error; use 400 to 599.`]),
      ...(meaning.trim() ? [] : [`${code}: the error has no meaning; write one sentence.`]),
      ...(retiredCodes.includes(code)
        ? [`${code}: the code is retired and cannot be used again; choose another.`]
        : []),
    ]),
  ];
}

/** Schemas with a title become named components of the document: one title, one schema. */
function schemaFaults(operations: readonly Operation[]): string[] {
  const byTitle = new Map<string, object>();
  const ambiguous = new Set<string>();
  const visit = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { title } = schema as { title?: unknown };
    if (typeof title === "string") {
      const { [LOCAL_DESCRIPTION]: _, ...general } = schema as Record<string, unknown>; // the description of one place of use may differ
      if (!isDeepStrictEqual(byTitle.get(title) ?? general, general)) ambiguous.add(title);
      byTitle.set(title, general);
    }
    for (const part of Object.values(schema)) visit(part);
  };
  visit(ErrorBody);
  for (const operation of operations) {
    const { query, body, ifMatch, response } = operation;
    for (const schema of [query, body?.schema, ifMatch, response.schema]) visit(schema);
  }
  return [...ambiguous].map((title) => `${title}: two different schemas have this title; rename one.`);
}

/** Each tag must have one description. */
function tagFaults(operations: readonly Operation[]): string[] {
  const names = new Map(operations.map(({ tag }) => [`${tag.name}\n${tag.description}`, tag.name])).values();
  return repeated([...names]).map(
    (name) => `${name}: two different tags have this name; share one value, or rename one.`,
  );
}

function operationFaults(operation: Operation, operations: readonly Operation[]): string[] {
  const { name, method, path, summary, description, scope, response, body, tag, errors } = operation;
  return [
    ...unknownKeyFaults(operation),
    ...(/^[a-z][A-Za-z0-9]*$/.test(name) ? [] : ["the name is not written in lowerCamelCase, like getPet."]),
    ...(/^(\/[A-Za-z0-9_-]+|\/\{[A-Za-z][A-Za-z0-9]*\})+$/.test(path)
      ? []
      : [`the path ${path} is malformed; write it like /pets/{petId}.`]),
    ...(summary.trim() && description.trim() ? [] : ["the summary or the description is empty; write both."]),
    ...(tag.name.trim() && tag.description.trim() ? [] : ["the tag has no name or no description; write both."]),
    ...(scope === "any" || scopes.includes(scope)
      ? []
      : [`the scope ${scope} does not exist; use any or one of ${scopes.join(", ")}.`]),
    ...([200, 201, 204].includes(response.status)
      ? []
      : [`the status ${response.status} is not one of 200, 201, 204.`]),
    ...(body && method === "GET" ? ["a GET operation has no body; use query, or another method."] : []),
    ...repeated(errors.map((error) => error.code)).map((code) => `the error ${code} is declared twice; remove one.`),
    ...preconditionFaults(operation),
    ...entityTagFaults(operation, operations),
    ...parameterFaults(operation),
    ...pagingFaults(operation),
    ...deprecationFaults(operation, operations),
    ...shapeFaults("body", body?.schema),
    ...shapeFaults("response", response.schema),
    ...exampleFaults("body", body?.schema, body?.examples),
    ...exampleFaults("response", response.schema, response.examples),
    ...locationFaults(operation),
    ...streamFaults(operation),
  ];
}

function preconditionFaults({ ifMatch, method, errors }: Operation): string[] {
  const canFail = errors.includes(preconditionFailed);
  return [
    ...(ifMatch && method === "GET" ? ["a GET operation does not honour If-Match; remove ifMatch."] : []),
    ...(ifMatch && !canFail
      ? [`it honours If-Match without the error ${preconditionFailed.code}; add preconditionFailed to errors.`]
      : []),
    ...(canFail && !ifMatch
      ? [`it has the error ${preconditionFailed.code} without honouring If-Match; set ifMatch, or remove the error.`]
      : []),
  ];
}

/** The response to a change must have the entity tag that a read would return. */
function entityTagFaults({ method, response }: Operation, operations: readonly Operation[]): string[] {
  const isRead = operations.some((other) => other.method === "GET" && other.response.schema === response.schema);
  return method !== "GET" && isRead && !response.entityTag
    ? ["it returns what a GET shows; set response.entityTag to true."]
    : [];
}

function propertiesOf(schema: TSchema | undefined): string[] {
  return Object.keys((schema as TObject | undefined)?.properties ?? {});
}

function parameterFaults({ path, params }: Operation): string[] {
  const inPath = pathParameters(path);
  const declared = propertiesOf(params?.schema);
  return [
    ...repeated(inPath).map((name) => `the path has two parameters ${name}; rename one.`),
    ...inPath
      .filter((name) => !declared.includes(name))
      .map((name) => `the path parameter ${name} has no schema; add it to params.schema.`),
    ...declared
      .filter((name) => !inPath.includes(name))
      .map((name) => `the path has no parameter ${name}; add {${name}} to it, or remove ${name} from params.schema.`),
  ];
}

function pagingFaults({ paged, query, response }: Operation): string[] {
  if (!paged) return [];
  return [
    ...["limit", "cursor"]
      .filter((name) => !propertiesOf(query).includes(name))
      .map((name) => `a paged operation needs the query parameter ${name}; spread pageParameters into query.`),
    ...((response.schema as { type?: unknown }).type === "array"
      ? []
      : ["a paged operation returns an array; make response.schema one, or remove paged."]),
  ];
}

/** True for a valid date as `YYYY-MM-DD`. `Date` alone would accept February 30 as a day in March. */
function isDate(text: string): boolean {
  const moment = new Date(dateToUnixSeconds(text) * 1000);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(`${text}T`);
}

function streamFaults({ method, paged, response }: Operation): string[] {
  const { stream, status, schema } = response;
  if (!stream) return [];
  const properties: Record<string, TSchema> = (schema as Partial<TObject>).properties ?? {};
  const { [stream.id]: id, [stream.event]: event } = properties;
  return [
    ...(method === "GET" && status === 200 ? [] : ["only a GET with status 200 is streamed; remove response.stream."]),
    ...(paged ? ["a streamed operation has no pages; remove paged."] : []),
    ...(id && isInt64(id)
      ? []
      : [`the stream takes its ids from ${stream.id}, which is not an int64 of the response.`]),
    ...(event && "type" in event && event.type === "string"
      ? []
      : [`the stream takes the names of events from ${stream.event}, which is not a text of the response.`]),
  ];
}

function deprecationFaults({ name, deprecation }: Operation, operations: readonly Operation[]): string[] {
  if (!deprecation) return [];
  const { since, removal, replacement } = deprecation;
  const areDates = isDate(since) && isDate(removal);
  const names = operations.map((operation) => operation.name);
  return [
    ...(isDate(since) ? [] : [`the deprecation date ${since} is not a date; write it like 2030-12-31.`]),
    ...(isDate(removal) ? [] : [`the removal date ${removal} is not a date; write it like 2030-12-31.`]),
    ...(areDates && removal <= since ? ["the removal does not come after the deprecation; set a later date."] : []),
    ...(names.includes(replacement)
      ? []
      : [`the replacement ${replacement} is not an operation.${didYouMean(suggest(replacement, names))}`]),
    ...(replacement === name ? ["the operation cannot replace itself; name another in replacement."] : []),
  ];
}

const combining = ["anyOf", "oneOf", "allOf", "$ref"];

/** Combined schemas are neither decoded nor written part by part: an int64 or an object in one would slip through. */
function shapeFaults(part: string, schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = combining
    .filter((keyword) => keyword in schema)
    .map((keyword) => `the ${part} uses ${keyword}; describe it with one plain schema.`);
  return own.concat(Object.values(schema).flatMap((inner) => shapeFaults(part, inner)));
}

function exampleFaults(part: string, schema?: TSchema, examples?: Readonly<Record<string, unknown>>): string[] {
  if (!schema || !examples) return [];
  const validator = compileValidator(schema);
  if (Object.keys(examples).length === 0) return [`the ${part} has no example; add one to ${part}.examples.`];
  return Object.entries(examples)
    .filter(([, example]) => !validator.Check(example))
    .map(([title, example]) => {
      const [error] = validator.Errors(example);
      return `the ${part} example "${title}" does not fit its schema: ${error?.instancePath || "it"} ${error?.message}.`;
    });
}

function locationFaults({ response }: Operation): string[] {
  if (!response.location) return [];
  const properties = propertiesOf(response.schema);
  return [
    ...(response.status === 201
      ? []
      : ["only a response of status 201 has a location; remove it, or set status to 201."]),
    ...pathParameters(response.location)
      .filter((name) => !properties.includes(name))
      .map((name) => `the location needs ${name}, which the response does not have; name one of its properties.`),
  ];
}
