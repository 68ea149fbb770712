import { randomBytes } from "node:crypto";
import { change, query } from "./statement.ts";
import type { Storage } from "./storage.ts";
import { onlyRow, table, text } from "./table.ts";
import { first } from "./transaction.ts";

export const generationTable = table(
  "store_generation",
  { only_row: onlyRow, generation: text },
  { key: ["only_row"] },
);

type GenerationRow = { generation: string };

export const readGeneration = query<[], GenerationRow>("SELECT generation FROM store_generation");
// If two processes start at the same time, the generation of the first one stays.
const keep = change<[generation: string], GenerationRow>(
  `INSERT INTO store_generation (only_row, generation) VALUES (1, $1)
   ON CONFLICT (only_row) DO UPDATE SET generation = store_generation.generation RETURNING generation`,
);

/**
 * For a store that was restored or copied: its next start gives it a new generation. Ids after the backup are given
 * again, to other things.
 */
export const endGeneration = change("DELETE FROM store_generation");

/**
 * A random text that the store keeps from its first start until it is restored. What must differ afterwards, although it
 * names the same ids, depends on it. It is secret. `isNew` is true at the first start.
 */
export async function generationOf(storage: Storage): Promise<{ generation: string; isNew: boolean }> {
  const known = await storage.read(first(readGeneration));
  if (known) return { generation: known.generation, isNew: false };
  const made = randomBytes(16).toString("hex");
  const { generation } = (await storage.write(() => first(keep, made))) as GenerationRow;
  return { generation, isNew: generation === made };
}

/** What tells backups of a store from those of others; it shows nothing of the generation. */
export function storeMark(generation: string): string {
  return Bun.SHA256.hash(generation, "hex").slice(0, 8);
}
