import { distance } from "fastest-levenshtein";

/** The known name that is closest to the given one, ignoring case; undefined if none is close. */
export function suggest(given: string, known: readonly string[]): string | undefined {
  const lower = given.toLowerCase();
  let closest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const allowed = Math.max(2, name.length / 3);
    if (Math.abs(name.length - given.length) > allowed) continue; // as many changes at least
    const changes = distance(lower, name.toLowerCase());
    // A short name that shares no letter with the given one is not a typing mistake of it.
    if (changes > allowed || changes >= name.length || changes >= fewest) continue;
    closest = name;
    fewest = changes;
  }
  return closest;
}

/** True for a name that differs from a known one in at most two letters, ignoring case. */
export function isTypoOf(given: string, known: readonly string[]): boolean {
  return known.some((name) => distance(given.toLowerCase(), name.toLowerCase()) <= 2);
}

/** The suffix of a message that suggests a name; empty without a name. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean ${name}?`;
}
