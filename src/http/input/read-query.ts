import type { TObject, TSchema } from "typebox";
import { type Fault, MAX_FAULTS } from "../../contract/errors.ts";
import { faultsOf, pointerToken } from "../../contract/input-faults.ts";
import { withCommas } from "../../contract/messages.ts";
import { QUERY_LIMIT } from "../../contract/requests.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import { compileDecoder, compileTextReaders, compileValidator, itemsOf } from "../../contract/validators.ts";

/** The maximum number of cached queries per operation, and their maximum length in characters: about 0.5 MB. */
const MAX_CACHED = 500;
const MAX_CACHED_LENGTH = 256;

/**
 * The valid parameters with defaults filled in, or the faults. The cursor is apart, so that the queries of all pages of a
 * list can have the same value.
 */
export type QueryResult =
  | { readonly value: Readonly<Record<string, unknown>>; readonly cursor: string | undefined }
  | { readonly faults: Fault[] };

const tooLong = { faults: [{ path: "/query", message: `has more than ${withCommas(QUERY_LIMIT)} characters` }] };

/** The end of the query in a link to a page. A cursor of other characters is decoded like any parameter. */
const linkEnd = /&cursor=([\w.-]{1,512})$/;

/** Compiles the schema of a query into a function that reads the text after the `?`. */
export function compileQueryReader(schema: TObject | undefined): (query: string) => QueryResult {
  const properties: Record<string, TSchema> = schema?.properties ?? {};
  const required = (schema?.required as string[] | undefined) ?? [];
  const closed = {
    type: "object",
    properties,
    required: required.filter((name) => (properties[name] as { default?: unknown }).default === undefined),
    additionalProperties: false,
  } as unknown as TObject;
  const readers = compileTextReaders(closed);
  // More names than these have enough unknown ones for all faults that a response lists.
  const maxNames = Object.keys(properties).length + MAX_FAULTS;
  const isPaged = "cursor" in properties;
  const spans = spansOf(Object.keys(properties));
  const validator = compileValidator(closed);
  const decode = compileDecoder(closed) ?? ((value: unknown) => value);
  const read = (query: string): QueryResult => {
    if (query.length > QUERY_LIMIT) return tooLong;
    const { texts, faults } = splitQuery(query, properties, maxNames);
    // Without a prototype, because assigning __proto__ to another object drops it, and it would not be refused.
    const value = Object.create(null) as Record<string, unknown>;
    for (const [name, text] of texts) value[name] = readers.get(name)?.(text) ?? text;
    if (!validator.Check(value)) {
      const found = faultsOf(value, closed, "/query", "query parameter of this operation");
      faults.push(
        ...found.map((fault) =>
          withListAdvice(withForeignAdvice(withPlusAdvice(fault, texts), isPaged), texts, properties),
        ),
      );
    } else faults.push(...spanFaults(value, spans));
    if (faults.length > 0) return { faults };
    const { cursor, ...others } = decode(value) as { readonly cursor?: string };
    return { value: others, cursor: cursor || undefined }; // an empty one is the first page
  };
  return isPaged ? cachedWithoutCursor(read) : cached(read);
}

/** The pairs of parameters that are the start and the end of a span of time: `since` and `until`, `confirmedSince` and its like. */
function spansOf(names: readonly string[]): (readonly [since: string, until: string])[] {
  const ends = names.map((name) => [name, name.replace(/since$/, "until").replace(/Since$/, "Until")] as const);
  return ends.filter(([since, until]) => since !== until && names.includes(until));
}

function spanFaults(
  value: Readonly<Record<string, unknown>>,
  spans: readonly (readonly [since: string, until: string])[],
): Fault[] {
  const isReversed = ([since, until]: readonly [string, string]) =>
    value[since] !== undefined &&
    value[until] !== undefined &&
    millisecondsOf(value[until] as string) < millisecondsOf(value[since] as string);
  return spans
    .filter(isReversed)
    .map(([since, until]) => ({ path: pathOf(until), message: `must not be before ${since}` }));
}

/** In a query, a `+` stands for a space: the offset of a time has lost its sign. */
function withPlusAdvice(fault: Fault, texts: ReadonlyMap<string, string>): Fault {
  const text = texts.get(fault.path.slice("/query/".length)) ?? "";
  return /T[\d:.]+ \d\d:\d\d$/.test(text) ? { ...fault, message: `${fault.message}; write + as %2B` } : fault;
}

/**
 * Parameters of other services that have another name or no like here, in lower case without `_`, `-`, `[` and `]`, each
 * with what to do instead.
 */
const foreign = [
  {
    names:
      /^(?:page(?:no|num|number|index|token|size|limit)?|perpage|offset|start|skip|(?:starting)?after|(?:ending)?before|next(?:page|token|cursor|pagetoken)?|continuationtoken|marker|size|count|take|top|first|max(?:results|items))$/,
    ofPagesOnly: true,
    help: 'to get the next page, request the URL that the Link header of a page gives as rel="next"; the size of a page is called limit',
  },
  { names: /^(?:fields?|select|include|exclude|expand|embed)/, help: "a response always has all fields" },
  { names: /^metadata/, help: "nothing can be found by its metadata; read all, and compare it yourself" },
];

function withForeignAdvice(fault: Fault, isPaged: boolean): Fault {
  if (!fault.message.startsWith("is not a query parameter")) return fault;
  const name = fault.path
    .slice("/query/".length)
    .toLowerCase()
    .replaceAll(/[_[\]-]/g, "");
  const found = foreign.find(({ names, ofPagesOnly }) => names.test(name) && (isPaged || !ofPagesOnly));
  return found ? { ...fault, message: `is not a query parameter of this operation; ${found.help}` } : fault;
}

/** Many clients put brackets after the name of a list, some with an index inside, or around its items. */
function withListAdvice(
  fault: Fault,
  texts: ReadonlyMap<string, string>,
  properties: Readonly<Record<string, TSchema>>,
): Fault {
  const [, name = "", after] = /^\/query\/(\w+)(?:\/\d+|(\[\d*\]))$/.exec(fault.path) ?? [];
  if (!itemsOf(properties[name]) || !(after ?? texts.get(name)?.startsWith("["))) return fault;
  const what = after
    ? `is not a query parameter of this operation; did you mean ${name}? Write`
    : `${fault.message}; write`;
  return { ...fault, message: `${what} ${name}=1,2 or ${name}=1&${name}=2` };
}

/** Caches valid results without the cursor: a list can have very many pages, and all have the same other parameters. */
function cachedWithoutCursor(read: (query: string) => QueryResult): (query: string) => QueryResult {
  const recall = cached(read);
  return (query) => {
    const [end, cursor] = linkEnd.exec(query) ?? [];
    if (end === undefined) return recall(query);
    const list = recall(query.slice(0, -end.length));
    return "faults" in list || list.cursor !== undefined ? read(query) : { value: list.value, cursor };
  };
}

/** Caches valid results, because clients send the same few queries again and again. */
function cached(read: (query: string) => QueryResult): (query: string) => QueryResult {
  const known = new Map<string, QueryResult>();
  return (query) => {
    const found = known.get(query);
    if (found) return found;
    const result = read(query);
    if ("faults" in result || query.length > MAX_CACHED_LENGTH) return result;
    if (known.size >= MAX_CACHED) known.clear();
    known.set(query, result);
    return result;
  };
}

/**
 * Splits `application/x-www-form-urlencoded` text. An invalid escape is a fault. So is a repeated name, unless it is
 * the name of a list, or unknown, which is a fault anyway. Reads no further than needed to list `MAX_FAULTS` faults.
 */
function splitQuery(
  query: string,
  properties: Readonly<Record<string, TSchema>>,
  maxNames: number,
): { texts: Map<string, string>; faults: Fault[] } {
  const texts = new Map<string, string>();
  const faults: Fault[] = [];
  let ignored = 0;
  for (const pair of query.split("&").filter(Boolean)) {
    if (texts.size >= maxNames || faults.length + ignored >= MAX_FAULTS) break;
    const equals = pair.indexOf("=");
    const name = decodeText(equals < 0 ? pair : pair.slice(0, equals));
    const text = decodeText(equals < 0 ? "" : pair.slice(equals + 1));
    if (name === undefined || text === undefined) {
      faults.push({ path: name ? pathOf(name) : "/query", message: "is not valid percent-encoded UTF-8" });
    } else if (!texts.has(name)) {
      texts.set(name, text);
    } else if (itemsOf(properties[name])) {
      texts.set(name, `${texts.get(name)},${text}`);
    } else if (Object.hasOwn(properties, name)) {
      faults.push({ path: pathOf(name), message: "is given more than once" });
    } else ignored++;
  }
  return { texts, faults };
}

function pathOf(name: string): string {
  return `/query/${pointerToken(name)}`;
}

function decodeText(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
