/** Largest body that is read, in bytes. */
export const BODY_LIMIT = 64 * 1024;
/** The maximum number of values of all levels in a body: parsing many costs far more than their bytes. */
export const VALUES_LIMIT = 150;
/** The maximum number of backslash escapes in a body, for the same reason. */
export const ESCAPES_LIMIT = 8_000;
/** The maximum number of digits of a number in a body, for the same reason. */
export const DIGITS_LIMIT = 150;
/** Longest query, in characters. Many proxies accept no more. */
export const QUERY_LIMIT = 8_192;
/** The time limit for every response, in milliseconds. */
export const RESPONSE_TIMEOUT = 10_000;
