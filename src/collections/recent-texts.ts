/** A text is in any slot of its bucket. */
const SLOTS_PER_BUCKET = 4;
/** The number of buckets. All slots together take 256 KiB. */
const BUCKETS = 16_384;

/**
 * Remembers which texts were noted recently. It keeps only their hashes, so it costs the garbage collector nothing.
 * In each bucket, the oldest text is forgotten first. If 10,000 texts are noted again and again in the same order, nearly
 * all are remembered; of 200,000, nearly none. With the same hash as another one, a text counts as noted: one in four
 * billion.
 */
export class RecentTexts {
  readonly #hashes = new Uint32Array(BUCKETS * SLOTS_PER_BUCKET);

  /** Notes a text. Returns true if it is remembered from before. */
  note(text: string): boolean {
    const hashes = this.#hashes;
    const hash = Bun.hash.xxHash32(text);
    const first = (hash % BUCKETS) * SLOTS_PER_BUCKET;
    for (let slot = first; slot < first + SLOTS_PER_BUCKET; slot++) if (hashes[slot] === hash) return true;
    hashes.copyWithin(first + 1, first, first + SLOTS_PER_BUCKET - 1);
    hashes[first] = hash;
    return false;
  }
}
