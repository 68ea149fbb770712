/** Largest body that is read, in bytes. */
export const BODY_LIMIT = 64 * 1024;
/** The maximum number of values of all levels in a body: parsing many costs far more than their bytes. */
export const VALUES_LIMIT = 1_000;
/** The time limit for every response, in milliseconds. */
export const RESPONSE_TIMEOUT = 10_000;
