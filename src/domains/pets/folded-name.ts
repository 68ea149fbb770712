/**
 * A text as names are searched: in Unicode normalization form KC, in lower case, with one form of the small sigma.
 * Texts that differ in nothing but case or width become the same.
 */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("ς", "σ");
}

/** What is kept next to a name to search it; null for a name in ASCII, which every engine can put into lower case. */
export function keptFold(name: string): string | null {
  return isAscii.test(name) ? null : folded(name);
}

const isAscii = /^[\0-\x7f]*$/;
