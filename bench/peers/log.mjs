import pino from "pino";

/** The log of requests. Asynchronous, as pino's documentation advises for speed: lines are written in batches. */
export function openLog() {
  return pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }));
}
