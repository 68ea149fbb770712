/** Largest body that is read, in bytes. */
export const BODY_LIMIT = 64 * 1024;
/** The time limit for every response, in milliseconds. */
export const RESPONSE_TIMEOUT = 10_000;
