import { distance } from "fastest-levenshtein";

/** An amount with its noun: `1 second`, `2 seconds`. */
export function count(amount: unknown, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Adds a full stop, unless the text ends with a question. */
export function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}

/**
 * A whole number with commas between its thousands: 4,096. For texts that are made at the start, where `toLocaleString`
 * would load the runtime's data about languages, 4 MB.
 */
export function withCommas(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** The maximum number of characters that a message shows of a value. */
const MAX_SHOWN = 40;
/** How far a value is searched for a key that begins in the part shown. */
const MAX_SEARCHED = 2 * MAX_SHOWN;
/** A run of letters and digits as in a key, a token or a digest. */
const secretLike = /(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{16}/;
/** Characters that a terminal obeys or that change how others look, but that `JSON.stringify` leaves as they are. */
const invisible = /[\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * A value that a client sent, for a message: short, without raw control characters, and never a key. Undefined for a
 * number that was not read exactly.
 */
export function shown(value: unknown): string | undefined {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  if (typeof value === "number" && !Number.isFinite(value)) return undefined;
  const text = String(value);
  const start = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  if (typeof value !== "string") return start;
  if (secretLike.test(text.slice(0, MAX_SEARCHED))) return "a text that may be a key";
  return JSON.stringify(start).replaceAll(invisible, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The known name that is closest to the given one, ignoring case, or begins with it; undefined if none is close. */
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
    if (changes > 1 && changes * 2 >= name.length && lower[0] !== name[0]?.toLowerCase()) continue;
    closest = name;
    fewest = changes;
  }
  return closest ?? (given.length > 3 ? known.find((name) => name.toLowerCase().startsWith(lower)) : undefined);
}

/** True for a name that differs from a known one in at most two letters, ignoring case. */
export function isTypoOf(given: string, known: readonly string[]): boolean {
  return known.some((name) => distance(given.toLowerCase(), name.toLowerCase()) <= 2);
}

/** Several texts in a sentence: `a, b and c`. */
export function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** The suffix of a message that suggests a name; empty without a name. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? "" : ` Did you mean ${name}?`;
}
