import { type StorageObserver, silentObserver } from "../storage.ts";
import { isBusy } from "./database.ts";
import { SqliteStorage } from "./sqlite-storage.ts";

/** How long to wait for another process that opens, migrates or locks the store, in milliseconds. */
const DEADLINE = 10_000;
const RETRY = 5;

interface OpeningOptions {
  /** If false, a store with an older schema is refused. */
  readonly mayMigrate?: boolean;
  readonly observer?: StorageObserver | undefined;
  /** Ends the wait. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Opens the store at a path, its file or a link to it, as soon as no other process has it locked. The wait does not block
 * the thread. Rejects with `StorageUnusable`.
 */
export async function openSqlite(givenPath: string, options: OpeningOptions = {}): Promise<SqliteStorage> {
  const { mayMigrate, observer = silentObserver, stop } = options;
  const deadline = performance.now() + DEADLINE;
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return new SqliteStorage(givenPath, observer, undefined, mayMigrate);
    } catch (error) {
      if (!isBusy((error as Error).cause) || stop?.aborted || performance.now() > deadline) throw error;
      if (!isWaiting) observer.postponed("open_store", error as Error);
    }
    await Bun.sleep(RETRY);
  }
}
