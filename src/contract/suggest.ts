import { closest, distance } from "fastest-levenshtein";

/** The known name that is closest to the given one, ignoring case; undefined if none is close. */
export function suggest(given: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || given.length > 64) return undefined;
  const lower = known.map((name) => name.toLowerCase());
  const candidate = closest(given.toLowerCase(), lower);
  const changes = distance(given.toLowerCase(), candidate);
  // A short name that shares no letter with the given one is not a typing mistake of it.
  const isClose = changes <= Math.max(2, candidate.length / 3) && changes < candidate.length;
  return isClose ? known[lower.indexOf(candidate)] : undefined;
}

/** True for a name that differs from a known one in at most two letters, ignoring case. */
export function isTypoOf(given: string, known: readonly string[]): boolean {
  return known.some((name) => distance(given.toLowerCase(), name.toLowerCase()) <= 2);
}

/** The suffix of a message that suggests a name; empty without a name. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean ${name}?`;
}
