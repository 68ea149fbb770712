/** What the ids in a path look like. Anything else in a path may be a part of a key, sent there by mistake. */
const plainId = /^(\d{1,19}|[a-z]+_[0-9A-Za-z]{1,16}|we_[0-9a-f]{24})$/;

/** True for an id that may be written down. */
export function isPlainId(text: string): boolean {
  return plainId.test(text);
}
