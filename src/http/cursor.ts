/**
 * A cursor is an opaque text that identifies the start of a page. It consists of a position and a digest of the
 * position and the list, so any other list rejects it.
 */

/** Makes the cursor of the page after `position`. */
export function encodeCursor(position: string, list: string): string {
  return `${position}.${Bun.hash.crc32(`${list} ${position}`).toString(36)}`;
}

/** The position in a cursor of this list; undefined for any other text. */
export function decodeCursor(cursor: string, list: string): string | undefined {
  const position = cursor.slice(0, Math.max(0, cursor.lastIndexOf(".")));
  return encodeCursor(position, list) === cursor ? position : undefined;
}
