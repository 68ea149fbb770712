/** The token of a bearer credential (RFC 6750, section 2.1); undefined if it is none. */
export function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  if (authorization.startsWith("Bearer ") && authorization[7] !== " ") return authorization.slice(7);
  const match = /^bearer(?: +(.*))?$/i.exec(authorization); // any letter case (RFC 9110, section 11.1)
  return match ? (match[1] ?? "") : undefined;
}

const HOW_TO_SEND = "Send the key in the header Authorization: Bearer <API_KEY>.";

/** Why a header has no bearer token. */
export function missingKeyMessage(authorization: string | null): string {
  if (!authorization) return `No API key was sent. ${HOW_TO_SEND}`;
  const [, scheme] = /^([A-Za-z-]{1,20}) /.exec(authorization) ?? [];
  return scheme
    ? `The header Authorization has the scheme ${scheme}, which is not supported. ${HOW_TO_SEND}`
    : `The header Authorization does not begin with Bearer and a space. ${HOW_TO_SEND}`;
}

/** Mistakes in sending a key, each with what to do. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^$/, `No API key follows the word Bearer. ${HOW_TO_SEND}`],
  [/,/, "The request has more than one API key, or its header Authorization was sent twice. Send one key, once."],
  [/^bearer\b/i, "The word Bearer is sent twice. Send it once."],
  [
    /^<?(?:your[-_ ]?)?(?:api[-_ ]?)?key>?$|^[$%]|\{/i,
    "A placeholder was sent instead of an API key. Put the key there.",
  ],
  [/^["'`“‘]|["'`”’]$/, "The API key is in quotation marks. Send it without them."],
  [/^<|>$/, "The API key is in angle brackets. Send it without them."],
  [/\s/, "The API key contains white space. Send it as one word."],
];

/** Why a bearer token is not valid, as far as its text alone shows. The text is never repeated. */
export function invalidKeyMessage(token: string): string {
  return (
    mistakes.find(([pattern]) => pattern.test(token))?.[1] ??
    "The API key is not valid. It is mistyped, unknown, expired or revoked."
  );
}
