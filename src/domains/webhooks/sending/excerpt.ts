/** Bytes of a response that are stored. */
const MAX_BYTES = 1024;

/**
 * The start of a response's body, as text that every engine can store. The rest is not read: the connection is closed.
 * If the body breaks off or takes too long, the excerpt is what has arrived until then.
 */
export async function readExcerpt({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let room = MAX_BYTES;
  try {
    for await (const piece of body ?? []) {
      pieces.push(piece.subarray(0, room));
      room -= piece.length;
      if (room <= 0) break; // which cancels the stream
    }
  } catch {
    // The status has been received, and it alone decides whether the delivery succeeded.
  }
  // `stream` leaves out a character that was cut at the end.
  const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
  return text.replaceAll("\0", "\uFFFD"); // PostgreSQL stores no NUL
}
