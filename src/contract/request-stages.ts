/**
 * The stages of a request, in order: so 401 comes before 429, and that before 404, 405, 415, 413 and 400. `identify` only
 * finds out whose request it is. In `load` an overloaded service refuses requests of the shops that have sent most.
 */
export const requestStages = [
  "identify",
  "load",
  "admit",
  "resolve",
  "simulate",
  "readInput",
  "handle",
  "openStream",
] as const;
export type RequestStage = (typeof requestStages)[number];
