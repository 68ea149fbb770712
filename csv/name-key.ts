/**
 * Folds a text for the search by name: Unicode normalization form KC, lower case, one form of the small sigma.
 * Texts that differ only in case or width become equal.
 */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ");
}

/** The first characters (code points) of a text as searches compare it. */
export function foldedStart(text: string, characters: number): string {
  const whole = folded(text);
  return whole.length <= characters ? whole : Array.from(whole).slice(0, characters).join("");
}

/** The longest key, in UTF-16 units: an index of PostgreSQL cannot hold more. Only names that folding expands reach it. */
const MAX_KEY = 800;

/**
 * Returns the same key for names that look the same: that differ only in case, width, normalization, white space or
 * invisible characters.
 */
export function nameKey(name: string): string {
  const shown = folded(name.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ""));
  return shown.replaceAll(/\s+/g, " ").trim().slice(0, MAX_KEY).toWellFormed();
}
