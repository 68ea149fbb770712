import type { Storage } from "../storage/storage.ts";
import type { CommandContext } from "./command.ts";

/**
 * Opens the store, runs `work` on it, and closes it. Rejects with `StorageUnusable` if there is no store, or it belongs
 * to another environment than the settings say. `opening` opens it in another way.
 */
export async function withStore<T>(
  { store }: Pick<CommandContext, "store">,
  work: (storage: Storage) => T | Promise<T>,
  opening: Promise<Storage> = store.open(),
): Promise<T> {
  const storage = await opening;
  try {
    await store.requireEnvironment(storage);
    return await work(storage);
  } finally {
    await storage.close();
  }
}
