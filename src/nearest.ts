import { closest, distance } from "fastest-levenshtein";

/** The known name that the given one was probably meant to be; undefined if none is close. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || given.length > 64) return undefined;
  const lower = known.map((name) => name.toLowerCase());
  const candidate = closest(given.toLowerCase(), lower);
  const isClose = distance(given.toLowerCase(), candidate) <= Math.max(2, candidate.length / 3);
  return isClose ? known[lower.indexOf(candidate)] : undefined;
}
