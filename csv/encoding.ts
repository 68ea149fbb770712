/** The encoding of a text that begins with these bytes: UTF-16, which Excel calls "Unicode text", begins with a mark. */
export function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** The bytes of a text in UTF-8, whether it is UTF-8 or UTF-16. */
export async function* inUtf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array();
  let decoder: TextDecoder | undefined;
  for await (const piece of source) {
    let bytes = piece;
    if (start) {
      bytes = new Uint8Array([...start, ...piece]);
      start = bytes.length < 2 ? bytes : undefined;
      if (start) continue;
      const encoding = encodingOf(bytes);
      if (encoding !== "utf-8") decoder = new TextDecoder(encoding);
    }
    yield decoder ? new TextEncoder().encode(decoder.decode(bytes, { stream: true })) : bytes;
  }
  if (start) yield start;
}
