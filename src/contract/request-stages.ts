/**
 * The stages of a request, in order: so 401 comes before 429, and that before 404, 405, 415, 413 and 400. `load` comes
 * before all of them: an overloaded service refuses a request there without looking at it.
 */
export const requestStages = [
  "load",
  "identify",
  "admit",
  "resolve",
  "simulate",
  "readInput",
  "handle",
  "openStream",
] as const;
export type RequestStage = (typeof requestStages)[number];
