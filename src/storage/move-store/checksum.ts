import { createHash } from "node:crypto";
import { jsonWithIntegersAsText, type Row } from "../statement.ts";

/** Keeps the sum of digests within 128 bits. */
const MODULUS = 1n << 128n;

/** An order-independent checksum of rows: their number and the sum of their digests (first 128 bits of SHA-256). */
export class Checksum {
  rows = 0;
  #sum = 0n;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const digest = createHash("sha256")
        .update(jsonWithIntegersAsText(Object.values(row)))
        .digest("hex");
      this.#sum = (this.#sum + BigInt(`0x${digest.slice(0, 32)}`)) % MODULUS;
    }
    this.rows += rows.length;
  }

  equals(other: Checksum): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}
