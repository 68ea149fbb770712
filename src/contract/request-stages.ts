/**
 * The stages of a request, in order. `identify` refuses nothing: it only records a missing or invalid key and a suspended
 * account. `shedLoad` refuses with 503 at overload. `admit` refuses with 429; a request within the limits then gets the
 * recorded 401 or 403. `resolve` follows with 404, 405, 410 and 403.
 */
export const requestStages = [
  "identify",
  "shedLoad",
  "admit",
  "resolve",
  "simulate",
  "readInput",
  "handle",
  "openStream",
] as const;
export type RequestStage = (typeof requestStages)[number];
