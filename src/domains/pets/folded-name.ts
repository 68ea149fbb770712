/**
 * Folds a text for the search by name: Unicode normalization form KC, lower case, one form of the small sigma.
 * Texts that differ only in case or width become equal.
 */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ");
}

/** The stored search form of a name; null for ASCII names, which every engine can convert to lower case. */
export function foldedToStore(name: string): string | null {
  return isAscii.test(name) ? null : folded(name);
}

const isAscii = /^[\0-\x7f]*$/;
