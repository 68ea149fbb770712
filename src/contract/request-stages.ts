/** The stages of a request, in order. docs/architecture.md says what each refuses. */
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
