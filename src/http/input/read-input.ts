import { type TObject, Type } from "typebox";
import type { Caller } from "../../contract/caller.ts";
import { type Failure, failure, invalidInput } from "../../contract/errors.ts";
import type { Input } from "../../contract/handler.ts";
import { faultsOf } from "../../contract/input-faults.ts";
import type { Operation } from "../../contract/operation.ts";
import { mediaTypesOf, takesIdempotencyKey } from "../../contract/operation-properties.ts";
import { PAGE_BYTES } from "../../contract/paging.ts";
import { LAST_EVENT_ID } from "../../contract/stream.ts";
import { compileTextReaders, compileValidator } from "../../contract/validators.ts";
import type { PageLinks } from "../response/page-links.ts";
import {
  type BodyReader,
  type BodyResult,
  compileAdvice,
  compileBodyReader,
  malformedLength,
  noBody,
  readEmptyBody,
} from "./read-body.ts";
import { compileQueryReader } from "./read-query.ts";
import {
  compilePrecondition,
  hasMalformedLength,
  noIdempotencyKey,
  readIdempotencyKey,
  readLastEventId,
} from "./request-headers.ts";

/** A request as the server provides it. `params` are percent-decoded, `pageBytes` is the bound of a page if it is another. */
export type RoutedRequest = Request & {
  readonly params?: Readonly<Record<string, string>>;
  readonly pageBytes?: number;
};

type Values = Readonly<Record<string, unknown>>;

/**
 * Compiles the reader of an operation from its input schemas: first it reads all but the body, then the body, for which it
 * may have to wait. `pages` are its own, if it has any.
 */
export function compileInputReader(
  operation: Operation,
  operations: readonly Operation[],
  pages: PageLinks | undefined,
) {
  const isStream = operation.response.stream !== undefined;
  const { readParams, refuseParams } = compileParams(operation, operations);
  const readQuery = compileQueryReader(isStream ? withResumption(operation.query) : operation.query);
  const readPrecondition = compilePrecondition(operation);
  const readKey = takesIdempotencyKey(operation) ? readIdempotencyKey : () => noIdempotencyKey;
  /** Reads what needs no waiting. */
  const readHead = ({ headers, params: texts, pageBytes = PAGE_BYTES, url }: RoutedRequest) => {
    const params = readParams(texts);
    const refusal = refuseParams(params);
    if (refusal) return refusal;
    const matches = readPrecondition?.(headers);
    if (matches && "faults" in matches) return invalidInput(matches.faults);
    return { headers, params, pageBytes, key: readKey(headers), query: readQuery(queryText(url)), matches };
  };
  type Head = Exclude<ReturnType<typeof readHead>, Failure>;
  /** `requestId` is the id that the service gave the request. */
  const toInput = (head: Head, body: BodyResult, caller: Caller, requestId: string): Input | Failure => {
    const { headers, params, pageBytes, key, query, matches } = head;
    if ("error" in body) return body;
    if ("faults" in key || "faults" in query || "faults" in body) {
      return invalidInput([key, query, body].flatMap((part) => ("faults" in part ? part.faults : [])));
    }
    let after: unknown;
    if (pages && query.cursor !== undefined) {
      after = pages.position(query.cursor, caller.shop, params, query.value);
      if (after === undefined) return invalidInput([{ path: "/query/cursor", message: notACursor }]);
    }
    const input = {
      params,
      query: query.value,
      body: body.value,
      after,
      pageBytes,
      caller,
      requestId,
      idempotencyKey: key.value,
      matches,
    } as Input;
    return isStream ? withLastEventId(input, headers) : input;
  };
  return { readHead, readBody: bodyReaderOf(operation, operations), toInput };
}

/** The query of a streamed operation, with the parameter from which the client resumes: any text, like the header. */
function withResumption(query?: TObject): TObject {
  return Type.Object({ ...query?.properties, [LAST_EVENT_ID.query]: Type.Optional(Type.String()) });
}

/** The input of a streamed operation, with the position from which the client resumes. */
function withLastEventId(input: Input, headers: Headers): Input | Failure {
  const { [LAST_EVENT_ID.query]: inQuery, ...query } = input.query as Readonly<Record<string, string | undefined>>;
  const lastEventId = readLastEventId(headers.get(LAST_EVENT_ID.header), inQuery);
  if ("faults" in lastEventId) return invalidInput(lastEventId.faults);
  return { ...input, query, lastEventId: lastEventId.value } as Input;
}

const noParams: Values = {};

function bodyReaderOf(operation: Operation, operations: readonly Operation[]): BodyReader {
  const { body } = operation;
  if (body) return compileBodyReader(body, mediaTypesOf(operation), compileAdvice(operation, operations));
  return operation.method === "GET" ? ignoreBody : readEmptyBody;
}

/** The body of a GET has no meaning (RFC 9110, section 9.3.1), and the runtime does not provide it. */
const ignoreBody: BodyReader = ({ headers }) => (hasMalformedLength(headers) ? malformedLength : noBody);

const notACursor = "is not a cursor of this list; send it with the filters and the key of the page that gave it";

/** The text after the `?`. Only the query is taken from the URL: its path is normalised. */
export function queryText(url: string): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
}

/** Compiles the reader of the path parameters, and the refusal of those that no resource can have. */
function compileParams({ params, path }: Operation, operations: readonly Operation[]) {
  if (!params) return { readParams: () => noParams, refuseParams: () => undefined };
  const { schema, invalidError } = params;
  const validator = compileValidator(schema);
  const readers = compileTextReaders(schema);
  const listed = path.slice(0, path.lastIndexOf("/{"));
  const hasList = operations.some((one) => one.method === "GET" && one.path === listed);
  const advice = hasList ? ` GET ${listed} lists those that exist.` : "";
  return {
    readParams: (texts: RoutedRequest["params"]) => {
      const values: Record<string, unknown> = {};
      for (const [name, readText] of readers) values[name] = readText(texts?.[name] ?? "");
      return values;
    },
    refuseParams: (values: Values): Failure | undefined => {
      if (validator.Check(values)) return undefined;
      const [fault] = faultsOf(values, schema, "", "parameter of this path");
      const reason = `${fault?.path.slice(1)} ${fault?.message}`;
      return failure(invalidError, `Nothing can be at ${path} with this identifier: ${reason}.${advice}`);
    },
  };
}
