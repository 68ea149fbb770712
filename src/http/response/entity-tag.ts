/**
 * A strong entity tag (RFC 9110, section 8.8.3) of a representation, from its text and, for one page
 * of many, its links.
 */
export function entityTag(body: string | Uint8Array<ArrayBuffer>, link = ""): string {
  const digest = link === "" ? Bun.hash(body) : Bun.hash(body, BigInt(Bun.hash.crc32(link)));
  return `"${digest.toString(36)}"`;
}

/** True if an `If-None-Match` header names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesIfNoneMatch(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
}

/** True if an `If-Match` header names the tag, by strong comparison (RFC 9110, section 13.1.1). */
export function matchesIfMatch(ifMatch: string, tag: string): boolean {
  return ifMatch.trim() === "*" || ifMatch.split(",").some((candidate) => candidate.trim() === tag);
}
