/** Bytes of a response that are kept. */
const MOST_BYTES = 1024;

/**
 * The start of a response's body, as text that every engine can store. What comes behind it is not waited for: the
 * connection is closed. A body that breaks off, or is late, has what came until then.
 */
export async function readExcerpt({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let room = MOST_BYTES;
  try {
    for await (const piece of body ?? []) {
      pieces.push(piece.subarray(0, room));
      room -= piece.length;
      if (room <= 0) break; // which cancels the stream
    }
  } catch {
    // The status has been received, and it is what decides.
  }
  // As a part of a longer text: a character that was cut is left out.
  const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
  return text.replaceAll("\0", "\uFFFD"); // PostgreSQL stores no NUL
}
