/** A strong entity tag (RFC 9110, section 8.8.3) of a response, from the bytes that it stands for. */
export function entityTag(body: string, link: string): string {
  return `"${Bun.hash(body, BigInt(Bun.hash.crc32(link))).toString(36)}"`;
}

/** True if an `If-None-Match` header names the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
}
