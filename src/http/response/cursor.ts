/**
 * A cursor is an opaque text that identifies the start of a page. It consists of a position and a digest of the
 * position and its scope, so any other list rejects it.
 */

/** Characters of a digest: 48 bits. */
const DIGEST_LENGTH = 12;

/** Makes the cursor of the page after `position`. `scope` is what it is valid for: see `cursorScope`. */
export function encodeCursor(position: string, scope: string): string {
  return `${position}.${Bun.SHA256.hash(`${scope} ${position}`, "hex").slice(0, DIGEST_LENGTH)}`;
}

/** The position in a cursor of this scope; undefined for any other text. */
export function decodeCursor(cursor: string, scope: string): string | undefined {
  const position = cursor.slice(0, Math.max(0, cursor.lastIndexOf(".")));
  return encodeCursor(position, scope) === cursor ? position : undefined;
}
