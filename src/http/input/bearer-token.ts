/** The token of a bearer credential (RFC 6750, section 2.1); undefined if it is none. */
export function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  if (authorization.startsWith("Bearer ") && authorization[7] !== " ") return authorization.slice(7);
  const match = /^bearer(?: +(.*))?$/i.exec(authorization); // any letter case (RFC 9110, section 11.1)
  return match ? (match[1] ?? "") : undefined;
}
