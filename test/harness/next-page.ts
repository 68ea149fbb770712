/** The path of the next page below the base address, with its query; undefined on the last page (RFC 8288). */
export function nextOf({ headers }: { readonly headers: Headers }): string | undefined {
  return /\/v1(\/[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
}
