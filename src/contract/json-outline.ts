import { VALUES_LIMIT } from "./request-limits.ts";

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];
const [ZERO, NINE, POINT, LARGE_E, SMALL_E] = [0x30, 0x39, 0x2e, 0x45, 0x65];
/** The number of digits from which on a number may lose some. */
const MANY_DIGITS = 16;

/** What can be known of a JSON text before it is parsed, at a small part of the cost. */
interface Outline {
  readonly hasTooManyValues: boolean;
  /** Whether a number outside of the texts may lose digits as a JavaScript number. */
  readonly mayLoseDigits: boolean;
}

/** Reads the outline of a JSON text: each value follows a comma or the beginning of an array or object. */
export function outlineOf(bytes: Uint8Array): Outline {
  let values = 0;
  let digits = 0;
  let mayLoseDigits = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if ((byte >= ZERO && byte <= NINE) || byte === POINT) {
      if (++digits >= MANY_DIGITS) mayLoseDigits = true;
      continue;
    }
    if (digits > 0 && (byte === LARGE_E || byte === SMALL_E)) mayLoseDigits = true;
    digits = 0;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if ((byte === COMMA || byte === BRACKET || byte === BRACE) && ++values > VALUES_LIMIT) {
      return { hasTooManyValues: true, mayLoseDigits };
    }
  }
  return { hasTooManyValues: false, mayLoseDigits };
}

/** The place of the quote that ends a text. One after an odd number of backslashes is part of the text. */
function endOfText(bytes: Uint8Array, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0;
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return bytes.length;
}
