import type { Mode } from "../../contract/caller.ts";
import { setting } from "../../settings/setting.ts";
import { randomBase62, toBase62 } from "../accounts/base62.ts";

/** Determines which API keys are created and accepted. */
export interface KeyEnvironment {
  /** Production has live and test keys; any other environment has test keys only. */
  readonly isProduction: boolean;
  /** Two base62 characters in every key. A proxy routes requests by them to one of several services. */
  readonly cell: string;
}

/** The key modes of an environment. The first is the default. */
export function modesOf({ isProduction }: Pick<KeyEnvironment, "isProduction">): readonly [Mode, ...Mode[]] {
  return isProduction ? ["live", "test"] : ["test"];
}

export const keySettings = {
  PETSTORE_CELL: setting<string>({
    meaning: "The cell (docs/scale.md): new API keys name it, and keys of another cell are refused.",
    fallback: "00",
    expects: "two letters or digits",
    parse: (text) => (/^[0-9A-Za-z]{2}$/.test(text) ? text : undefined),
  }),
};

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/** The length of every key. */
export const KEY_LENGTH = "psk_test_".length + 2 + RANDOM_LENGTH + CHECKSUM_LENGTH;

/** The form of the keys of an environment. */
export function keyForm(environment: KeyEnvironment): RegExp {
  const start = `psk_(?:${modesOf(environment).join("|")})_${environment.cell}`;
  return new RegExp(`^${start}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
}

/**
 * Creates an API key: `psk_test_` or `psk_live_`, the two characters of the cell, 30 random base62 characters (178 bits),
 * and the CRC32 of all that as 6 base62 characters. The checksum detects a mistyped key without a look-up.
 */
export function generateApiKey(mode: Mode, cell = keySettings.PETSTORE_CELL.fallback): string {
  const body = `psk_${mode}_${cell}${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** True if the checksum of a key is right. */
export function isChecked(key: string): boolean {
  return checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
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
