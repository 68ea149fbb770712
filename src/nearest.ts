import { closest, distance } from "fastest-levenshtein";

/** The known name that the given one was probably meant to be; undefined if none is close. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || given.length > 64) return undefined;
  const candidate = closest(given.toLowerCase(), [...known]);
  return distance(given.toLowerCase(), candidate.toLowerCase()) <= Math.max(2, candidate.length / 3)
    ? candidate
    : undefined;
}
