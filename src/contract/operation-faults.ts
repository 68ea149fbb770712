import type { TObject, TSchema } from "typebox";
import { preconditionFailed } from "./errors.ts";
import { firstFault } from "./input-faults.ts";
import { didYouMean, suggest } from "./messages.ts";
import type { Operation } from "./operation.ts";
import { dateToUnixSeconds, pathParameters } from "./operation-properties.ts";
import { pageParameterNames } from "./paging.ts";
import { isInt64, variantsOf } from "./schemas.ts";
import { itemsOf } from "./validators.ts";

/** All faults of one operation, each with its repair. `operations` are all that are served with it. */
export function operationFaults(operation: Operation, operations: readonly Operation[]): string[] {
  const { name, path, summary, description, response, body, sends, tag, errors } = operation;
  return [
    ...(/^[a-z][A-Za-z0-9]*$/.test(name) ? [] : ["the name is not written in lowerCamelCase, like getPet."]),
    ...(/^(\/[A-Za-z0-9_-]+|\/\{[A-Za-z][A-Za-z0-9]*\})+$/.test(path)
      ? []
      : [`the path ${path} is malformed; write it like /pets/{petId}.`]),
    ...(summary.trim() && description.trim() ? [] : ["the summary or the description is empty; write both."]),
    ...(tag.name.trim() && tag.description.trim() ? [] : ["the tag has no name or no description; write both."]),
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
    ...exampleFaults("message", sends?.schema, sends?.examples),
    ...locationFaults(operation),
    ...streamFaults(operation),
  ];
}

function* preconditionFaults({ ifMatch, errors }: Operation): Generator<string> {
  const canFail = errors.includes(preconditionFailed);
  if (ifMatch && !canFail)
    yield `it honours If-Match without the error ${preconditionFailed.code}; add preconditionFailed to errors.`;
  if (canFail && !ifMatch)
    yield `it has the error ${preconditionFailed.code} without honouring If-Match; set ifMatch, or remove the error.`;
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

function* pagingFaults({ paged, query, response }: Operation): Generator<string> {
  if (!paged) return;
  yield* pageParameterNames
    .filter((name) => !propertiesOf(query).includes(name))
    .map((name) => `a paged operation needs the query parameter ${name}; spread pageParameters into query.`);
  if ((response.schema as { type?: unknown }).type !== "array")
    yield "a paged operation returns an array; make response.schema one, or remove paged.";
  if (paged.ids !== undefined && !itemsOf(query?.properties?.[paged.ids]))
    yield `paged.ids names ${paged.ids}, which is not a list in query; add it with filterByIds.`;
}

/** True for a valid date as `YYYY-MM-DD`. `Date` alone would accept February 30 as a day in March. */
function isDate(text: string): boolean {
  const moment = new Date(dateToUnixSeconds(text) * 1000);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(`${text}T`);
}

function* streamFaults({ paged, response }: Operation): Generator<string> {
  const { stream, schema } = response;
  if (!stream) return;
  const each = (name: string, fits: (field: TSchema) => boolean) =>
    variantsOf(schema).every(({ properties = {} }: Partial<TObject>) => properties[name] && fits(properties[name]));
  if (paged) yield "a streamed operation has no pages; remove paged.";
  if (!each(stream.id, isInt64))
    yield `the stream takes its ids from ${stream.id}, which is not an int64 of the response.`;
  if (!each(stream.event, (field) => "type" in field && field.type === "string"))
    yield `the stream takes the names of events from ${stream.event}, which is not a text of the response.`;
}

function* deprecationFaults({ name, deprecation }: Operation, operations: readonly Operation[]): Generator<string> {
  if (!deprecation) return;
  const { since, removal, replacement } = deprecation;
  const areDates = isDate(since) && isDate(removal);
  const names = operations.map((operation) => operation.name);
  if (!isDate(since)) yield `the deprecation date ${since} is not a date; write it like 2030-12-31.`;
  if (!isDate(removal)) yield `the removal date ${removal} is not a date; write it like 2030-12-31.`;
  if (areDates && removal <= since) yield "the removal does not come after the deprecation; set a later date.";
  if (!names.includes(replacement))
    yield `the replacement ${replacement} is not an operation.${didYouMean(suggest(replacement, names))}`;
  if (replacement === name) yield "the operation cannot replace itself; name another in replacement.";
}

const combining = ["anyOf", "oneOf", "allOf", "$ref"];

/**
 * Combined schemas are neither decoded nor written part by part: an int64 or an object in one would stay unchanged.
 * Only `OneOf` is written.
 */
function shapeFaults(part: string, schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = combining
    .filter((keyword) => keyword in schema && !(part === "response" && "discriminator" in schema))
    .map((keyword) => `the ${part} uses ${keyword}; describe it with one plain schema.`);
  return own.concat(Object.values(schema).flatMap((inner) => shapeFaults(part, inner)));
}

function exampleFaults(part: string, schema?: TSchema, examples?: Readonly<Record<string, unknown>>): string[] {
  if (!schema || !examples) return [];
  if (Object.keys(examples).length === 0) return [`the ${part} has no example; add one to ${part}.examples.`];
  return Object.entries(examples).flatMap(([title, example]) => {
    const fault = firstFault(example, schema);
    return fault ? [`the ${part} example "${title}" does not fit its schema: ${fault.path} ${fault.message}.`] : [];
  });
}

function* locationFaults({ response }: Operation): Generator<string> {
  if (!response.location) return;
  const properties = propertiesOf(response.schema);
  if (response.status !== 201) yield "only a response of status 201 has a location; remove it, or set status to 201.";
  yield* pathParameters(response.location)
    .filter((name) => !properties.includes(name))
    .map((name) => `the location needs ${name}, which the response does not have; name one of its properties.`);
}

/** The values that occur more than once. */
export function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
