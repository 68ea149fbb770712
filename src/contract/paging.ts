import { Type } from "typebox";

/**
 * The query parameters of a list that is read page by page. `limit` is the size of a page; `cursor`
 * comes from the `Link` header (RFC 8288, `rel="next"`) of the page before and is opaque.
 */
export function pageParameters(options: { maximum: number; default: number; what: string }) {
  return {
    limit: Type.Integer({
      description: `Maximum number of ${options.what} returned.`,
      minimum: 1,
      maximum: options.maximum,
      default: options.default,
    }),
    cursor: Type.Optional(
      Type.String({
        description:
          'Where the page starts. Opaque: take it from the `Link` header (`rel="next"`) of the ' +
          "page before, with the same filters.",
        minLength: 1,
        maxLength: 512,
      }),
    ),
  };
}
