import type { Mode } from "../../contract/operation.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";

interface ModeRow extends Row {
  mode: Mode;
}

// On disk, the mode is called the world of the keys.
const readMode = statement<ModeRow>("SELECT world AS mode FROM key_world");
const writeMode = statement('INSERT INTO key_world ("only", world) VALUES (1, $1)');

/** The mode of the store's keys; undefined as long as it has had neither a key nor a service. */
export async function keyModeOf(storage: Storage): Promise<Mode | undefined> {
  return (await storage.first(readMode))?.mode;
}

/** Part of a transaction: makes this the mode of the store's keys if it has none. Returns the mode that the store has. */
export function* ensureKeyMode(mode: Mode): Transaction<Mode> {
  const kept = yield* first(readMode);
  if (kept) return kept.mode;
  yield* all(writeMode, mode);
  return mode;
}
