import type { Mode } from "../../contract/operation.ts";
import { randomBase62, toBase62 } from "../accounts/random-text.ts";

const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const shape = new RegExp(`^psk_(live|test)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Makes an API key: `psk_test_` or `psk_live_`, 32 random base62 characters (190 bits), and the
 * CRC32 of all that as 6 base62 characters, so that a mistyped key is told without a look-up.
 */
export function generateApiKey(mode: Mode): string {
  const body = `psk_${mode}_${randomBase62(SECRET_LENGTH)}`;
  return body + checksum(body);
}

/** True if the text has the form of a key of this mode and its checksum is right. */
export function isWellFormedKey(key: string, mode: Mode): boolean {
  if (shape.exec(key)?.[1] !== mode) return false;
  const end = key.length - CHECKSUM_LENGTH;
  return checksum(key.slice(0, end)) === key.slice(end);
}

/** True for a text in which a key may be, whole or in part. */
export function mayHoldKey(text: string): boolean {
  return /psk_/i.test(text);
}

/**
 * What is stored of a key: its SHA-256 in base64. A slow hash would add nothing, because a key is
 * 190 random bits and cannot be guessed from its digest.
 */
export function keyDigest(key: string): string {
  return Bun.SHA256.hash(key, "base64");
}

function checksum(body: string): string {
  return toBase62(Bun.hash.crc32(body), CHECKSUM_LENGTH);
}
