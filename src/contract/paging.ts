import { type TProperties, type TSchema, Type } from "typebox";
import { Choice, Int32, Int64 } from "./schemas.ts";

/** The names of `pageParameters`. They select a page of a list; all other parameters select the list. */
export const pageParameterNames: readonly string[] = ["limit", "cursor"];

/** A page of a list ends early before its text has more bytes than this, but not before its first item. */
export const PAGE_BYTES = 256 * 1024;

/**
 * The query parameters of a paged list. `limit` is the page size, by default `size`. `cursor` comes from the `Link`
 * header (RFC 8288, `rel="next"`) of the previous page and is opaque. `what` names the items in prose.
 */
export function pageParameters(what: string, size = 20) {
  return {
    limit: Int32({
      description: `Maximum number of ${what} returned. A page ends early, at ${PAGE_BYTES / 1024} KiB.`,
      minimum: 1,
      maximum: 100,
      default: size,
    }),
    cursor: Type.Optional(
      Type.String({
        description:
          'From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page.',
        maxLength: 512,
        default: "",
      }),
    ),
  };
}

/**
 * The common parts of paged list operations. `what` names the items in prose, `schema` describes the array,
 * `position` describes the sort key of an item, and `filters` are the other query parameters.
 */
export function pagesOf<S extends TSchema, P extends TSchema, F extends TProperties = Record<never, never>>(list: {
  readonly what: string;
  readonly schema: S;
  readonly position: P;
  readonly examples: Readonly<Record<string, unknown>>;
  readonly filters?: F;
  /** See `Operation`. */
  readonly ids?: keyof F & string;
}) {
  const { what, schema, position, examples, filters, ids } = list;
  return {
    query: Type.Object({ ...pageParameters(what), ...(filters as F) }),
    paged: { position, ...(ids && { ids }) },
    response: { status: 200, description: `A page of ${what}.`, schema, examples },
  } as const;
}

/** The query parameter that chooses the order of a list. `title` names its schema. */
export function sortById(title: string, what: string) {
  const description = `Sort order: \`id\`, the default, returns the oldest ${what} first, \`-id\` the newest.`;
  return Type.Optional(Choice(["id", "-id"], { title, description }));
}

/** The maximum number of ids in one filter. */
export const MAX_IDS = 100;

/** The query parameter that filters a list by the ids of some resources. `what` names one, `filter` what it does. */
export function filterByIds(what: string, filter: string) {
  const description = `${filter} Up to ${MAX_IDS} ids, separated by commas or in repeated parameters. Unknown ids are ignored. \`limit\` still applies.`;
  const id = Int64({ description: `The identifier of the ${what}.`, examples: [7n] });
  return Type.Optional(Type.Array(id, { description, minItems: 1, maxItems: MAX_IDS }));
}
