import type { TSchema } from "typebox";
import { type Failure, type Fault, failure, invalidRequest } from "../contract/errors.ts";
import type { Input, Operation } from "../contract/operation.ts";
import { compileValidator } from "../contract/validators.ts";
import { type MaybePromise, whenReady } from "../maybe-promise.ts";
import { decodeCursor } from "./cursor.ts";
import { MOST_FAULTS } from "./faults.ts";
import { type BodyResult, compileBodyReader } from "./read-body.ts";
import { compileQueryReader, readText } from "./read-query.ts";

/** A request as the server hands it over: `params` are percent-decoded. */
export type RoutedRequest = Request & { readonly params?: Readonly<Record<string, string>> };

export type InputReader = (request: RoutedRequest) => MaybePromise<Input | Failure>;

/** Compiles an operation's input schemas into the stage that reads a request. */
export function compileInputReader(operation: Operation): InputReader {
  const readParams = compileParamsReader(operation);
  const readQuery = compileQueryReader(operation.query);
  const readBody = operation.body && compileBodyReader(operation.body.schema);
  const readPosition = operation.paged && compilePositionReader(operation.paged.position);

  return (request) => {
    const params = readParams(request.params ?? {});
    if ("error" in params) return params;
    return whenReady(readBody ? readBody(request) : { value: undefined }, (body: BodyResult) => {
      if ("error" in body) return body;
      const query = readQuery(queryText(request.url));
      const faults = [...("faults" in query ? query.faults : []), ...("faults" in body ? body.faults : [])];
      let after: unknown;
      const cursor = "value" in query ? query.value["cursor"] : undefined;
      if ("value" in query && readPosition && typeof cursor === "string") {
        after = readPosition(decodeCursor(cursor, listName(operation, query.value)));
        if (after === undefined) faults.push({ path: "/query/cursor", message: "is not a cursor of this list" });
      }
      if ("faults" in query || "faults" in body || faults.length > 0) return invalid(faults);
      return { params: params.value, query: query.value, body: body.value, after } as Input;
    });
  };
}

/** Names the list that a query selects: the operation and its filters, without page size and cursor. */
export function listName(operation: Operation, query: Readonly<Record<string, unknown>>): string {
  const filters = Object.keys(query).filter((name) => name !== "limit" && name !== "cursor");
  return [operation.name, ...filters.toSorted().map((name) => `${name}=${query[name]}`)].join("&");
}

/** The text behind the `?`. Only the query is taken from the URL: its path is normalised. */
function queryText(url: string): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
}

function compileParamsReader({ params }: Operation) {
  if (!params) return () => ({ value: {} });
  const { schema, otherwise } = params;
  const validator = compileValidator(schema);
  return (texts: Readonly<Record<string, string>>): { value: Record<string, unknown> } | Failure => {
    const values: Record<string, unknown> = {};
    for (const name in schema.properties) values[name] = readText(texts[name] ?? "", schema.properties[name]);
    return validator.Check(values) ? { value: values } : failure(otherwise, "No resource can have this identifier.");
  };
}

function compilePositionReader(schema: TSchema) {
  const validator = compileValidator(schema);
  return (text: string | undefined): unknown => {
    if (text === undefined) return undefined;
    const position = readText(text, schema);
    return validator.Check(position) ? position : undefined;
  };
}

function invalid(faults: readonly Fault[]): Failure {
  const details = faults.slice(0, MOST_FAULTS);
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : "";
  return failure(invalidRequest, `The request is invalid: ${first?.path} ${first?.message}${more}.`, { details });
}
