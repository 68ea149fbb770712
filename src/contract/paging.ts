import { type TProperties, type TSchema, Type } from "typebox";
import { Int32 } from "./schemas.ts";

/**
 * The query parameters of a paged list. `limit` is the page size. `cursor` comes from the `Link` header
 * (RFC 8288, `rel="next"`) of the previous page and is opaque.
 */
export function pageParameters(options: { maximum: number; default: number; what: string }) {
  return {
    limit: Int32({
      description: `Maximum number of ${options.what} returned.`,
      minimum: 1,
      maximum: options.maximum,
      default: options.default,
    }),
    cursor: Type.Optional(
      Type.String({
        description: 'From the `Link` header (`rel="next"`) of the previous page. Send the same filters.',
        minLength: 1,
        maxLength: 512,
      }),
    ),
  };
}

/**
 * The common parts of paged list operations. `what` names the items in prose, `schema` describes the array,
 * `position` describes the sort key of an item, and `filters` are the other query parameters. `size` is the default
 * `limit`.
 */
export function pagesOf<S extends TSchema, P extends TSchema, F extends TProperties = Record<never, never>>(list: {
  readonly what: string;
  readonly schema: S;
  readonly position: P;
  readonly examples: Readonly<Record<string, unknown>>;
  readonly filters?: F;
  readonly size?: number;
}) {
  const { what, schema, position, examples, filters, size = 20 } = list;
  return {
    query: Type.Object({ ...pageParameters({ maximum: 100, default: size, what }), ...(filters as F) }),
    paged: { position },
    response: { status: 200, description: `A page of ${what}.`, schema, examples },
  } as const;
}
