import { Type } from "typebox";
import { Int32 } from "./schemas.ts";

/**
 * The query parameters of a list that is read page by page. `limit` is the size of a page; `cursor`
 * comes from the `Link` header (RFC 8288, `rel="next"`) of the page before and is opaque.
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
        description:
          'Where the page starts: opaque, from the `Link` header (`rel="next"`) of the page before, whose filters apply.',
        minLength: 1,
        maxLength: 512,
      }),
    ),
  };
}
