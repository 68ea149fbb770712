/**
 * Cursors: opaque texts that say where a page starts and to which list it belongs. They hold a
 * position and a digest of the filters, so that a cursor of one list is refused on another.
 */

/** Makes the cursor of the page after `position`. */
export function encodeCursor(position: string, list: string): string {
  return Buffer.from(`1.${digest(list)}.${position}`).toString("base64url");
}

/** The position in a cursor of this list; undefined for any other text. */
export function decodeCursor(cursor: string, list: string): string | undefined {
  const text = Buffer.from(cursor, "base64url").toString();
  const start = `1.${digest(list)}.`;
  if (!text.startsWith(start)) return undefined;
  const position = text.slice(start.length);
  return encodeCursor(position, list) === cursor ? position : undefined;
}

function digest(list: string): string {
  return Bun.hash.crc32(list).toString(36);
}
