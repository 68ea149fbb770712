/** The number of remembered texts: 64 KiB. */
const SLOTS = 16_384;

/**
 * Remembers which texts were noted recently. It keeps only their hashes, each in one slot, so it costs the garbage
 * collector nothing. A text is forgotten when another one takes its slot: half of all texts after 11,000 others. With
 * the same hash as another one, a text counts as noted: one in four billion.
 */
export class RecentTexts {
  readonly #hashes = new Uint32Array(SLOTS);

  /** Notes a text. Returns true if it is remembered from before. */
  note(text: string): boolean {
    const hash = Bun.hash.xxHash32(text);
    const slot = hash % SLOTS;
    const isKnown = this.#hashes[slot] === hash;
    this.#hashes[slot] = hash;
    return isKnown;
  }
}
