/**
 * Cursors: opaque texts that say where a page starts and to which list it belongs. They hold a
 * position and a digest of it and of the list, so that a cursor of one list is refused on another.
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
