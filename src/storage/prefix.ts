/** The last Unicode character in the order of bytes, which is that of both engines. */
const LAST = "\u{10ffff}";

/** The bounds, both included, of texts that begin with `start` and have at most `most` characters more. */
export function prefixBounds(start: string, most: number): readonly [first: string, last: string] {
  return [start, start + LAST.repeat(most)];
}
