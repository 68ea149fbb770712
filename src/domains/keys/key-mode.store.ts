import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import type { KeyWorld } from "./api-key.ts";

interface WorldRow extends Row {
  world: KeyWorld;
}

const readWorld = statement<WorldRow>("SELECT world FROM key_world");
const keepWorld = statement('INSERT INTO key_world ("only", world) VALUES (1, $1)');

/** The world of the store's keys; undefined as long as it has had neither a key nor a service. */
export async function keyWorldOf(storage: Storage): Promise<KeyWorld | undefined> {
  return (await storage.first(readWorld))?.world;
}

/** Inside a transaction: makes this the world of the store's keys if it has none, and gives the one it has. */
export function* settleKeyWorld(world: KeyWorld): Transaction<KeyWorld> {
  const kept = yield* first(readWorld);
  if (kept) return kept.world;
  yield* all(keepWorld, world);
  return world;
}
