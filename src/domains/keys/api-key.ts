import type { Mode } from "../../contract/caller.ts";
import { randomBase62, toBase62 } from "../accounts/base62.ts";
import { type KeyEnvironment, modesOf } from "./key-environment.ts";
import { keySettings } from "./keys.settings.ts";

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const shape = new RegExp(`^psk_(live|test)_([0-9A-Za-z]{2})[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Creates an API key: `psk_test_` or `psk_live_`, the two characters of the cell, 30 random base62 characters (178 bits),
 * and the CRC32 of all that as 6 base62 characters. The checksum detects a mistyped key without a look-up.
 */
export function generateApiKey(mode: Mode, cell = keySettings.PETSTORE_CELL.fallback): string {
  const body = `psk_${mode}_${cell}${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** True if the text has the form of a key of this environment and its checksum is right. */
export function isWellFormedKey(key: string, environment: KeyEnvironment): boolean {
  const [, mode, cell] = shape.exec(key) ?? [];
  if (cell !== environment.cell || !modesOf(environment).some((one) => one === mode)) return false;
  const end = key.length - CHECKSUM_LENGTH;
  return checksum(key.slice(0, end)) === key.slice(end);
}

/** True for a text that may contain all or part of a key. */
export function mayHoldKey(text: string): boolean {
  return /psk_/i.test(text);
}

/**
 * The stored digest of a key: its SHA-256 in base64. A slow hash would add nothing, because a key has 178 random
 * bits and cannot be guessed from its digest.
 */
export function keyDigest(key: string): string {
  return Bun.SHA256.hash(key, "base64");
}

function checksum(body: string): string {
  return toBase62(Bun.hash.crc32(body), CHECKSUM_LENGTH);
}
