import type { TSchema } from "typebox";
import type { Input } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import type { FillPath } from "../../contract/operation-properties.ts";
import { pageParameterNames } from "../../contract/paging.ts";
import { compileTextReader, compileValidator } from "../../contract/validators.ts";

/** Characters of the digest in a cursor: 48 bits. */
const DIGEST_LENGTH = 12;

type Values = Readonly<Record<string, unknown>>;

/** Reads the cursors of one paged operation, and writes links to the next page. */
export type PageLinks = NonNullable<ReturnType<typeof compilePageLinks>>;

/**
 * `base` is the base address of the API. `secret` keeps others from computing the digests of cursors, which would show the
 * number of the shop. Undefined for an operation that has no pages.
 */
export function compilePageLinks(operation: Operation, fillPath: FillPath, base: string, secret: string) {
  if (!operation.paged) return undefined;
  const nameOf = compileListName(operation);
  const names = Object.keys(operation.query?.properties ?? {});
  const filters = names.filter((name) => !pageParameterNames.includes(name));
  const readPosition = compilePositionReader(operation.paged.position);
  /** The texts of a query that all pages of a list share: the filters, and for links all parameters but the cursor. */
  const makeTexts = (query: Values) => ({
    filters: parametersText(filters, query),
    parameters: parametersText(Object.keys(query), query).slice(1),
  });
  const known = new WeakMap<Values, ReturnType<typeof makeTexts>>();
  const textsOf = (query: Values) => {
    let texts = known.get(query);
    if (!texts) known.set(query, (texts = makeTexts(query)));
    return texts;
  };
  const list = (params: Values, query: Values) => nameOf(params, textsOf(query).filters);
  return {
    /** The position in a cursor; undefined if the text is not a cursor of this list. */
    position: (cursor: string, shop: number, params: Values, query: Values): unknown =>
      readPosition(decodeCursor(cursor, cursorScope(secret, shop, list(params, query)))),
    /** The link from the page of `input` to the one after `next` (RFC 8288). */
    next: (input: Input, next: unknown): string => {
      const params: Values = input.params;
      const query: Values = input.query;
      const cursor = encoded(encodeCursor(String(next), cursorScope(secret, input.caller.shop, list(params, query))));
      return `<${base}${fillPath(params)}?${textsOf(query).parameters}&cursor=${cursor}>; rel="next"`;
    },
  };
}

/**
 * Makes the cursor of the page after `position`: an opaque text of the position and a digest of the position and its scope,
 * so that any other list rejects it. `scope` is what it is valid for: see `cursorScope`.
 */
export function encodeCursor(position: string, scope: string): string {
  return `${position}.${Bun.SHA256.hash(`${scope} ${position}`, "hex").slice(0, DIGEST_LENGTH)}`;
}

/** The position in a cursor of this scope; undefined for any other text. */
function decodeCursor(cursor: string, scope: string): string | undefined {
  const position = cursor.slice(0, Math.max(0, cursor.lastIndexOf(".")));
  return encodeCursor(position, scope) === cursor ? position : undefined;
}

/** What a cursor is valid for: a list of one shop. After a reset, the shop has another number. */
export function cursorScope(secret: string, shop: number, list: string): string {
  return `${secret} ${shop} ${list}`;
}

/** Compiles a function that returns the name of a list: its operation, path parameters and the text of its filters. */
export function compileListName({ name, params }: Operation): (params: Values, filters: string) => string {
  const inPath = Object.keys(params?.schema.properties ?? {});
  return (values, filters) => name + parametersText(inPath, values) + filters;
}

function parametersText(names: readonly string[], values: Values): string {
  let text = "";
  for (const name of names) if (values[name] !== undefined) text += `&${name}=${encoded(values[name])}`;
  return text;
}

/** A parameter value, percent-encoded for a URL (RFC 3986, section 2.1). */
function encoded(value: unknown): string {
  return encodeURIComponent(String(value));
}

function compilePositionReader(schema: TSchema): (text: string | undefined) => unknown {
  const validator = compileValidator(schema);
  const readText = compileTextReader(schema);
  return (text) => {
    if (text === undefined) return undefined;
    const position = readText(text);
    return validator.Check(position) ? position : undefined;
  };
}
