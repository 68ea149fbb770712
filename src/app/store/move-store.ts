import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type MoveOptions,
  type MoveProgress,
  type MoveResult,
  moveTables,
} from "../../storage/move-store/move-tables.ts";
import type { PostgresAddress } from "../../storage/postgres/address.ts";
import { PostgresTarget } from "../../storage/postgres/postgres-target.ts";
import { SqliteSource } from "../../storage/sqlite/sqlite-source.ts";
import { realStoreFile } from "../../storage/sqlite/store-files.ts";
import { STORE_FILE } from "./engines.ts";

/** The progress also has the total number of rows. */
interface MoveStoreOptions extends Omit<MoveOptions, "emptyStore" | "onProgress"> {
  readonly onProgress: (progress: MoveProgress & { totalRows: number }) => void;
}

/**
 * Moves the embedded store at this path, a folder or the file itself, to a database. No other process can use either
 * while it runs. Afterwards the embedded store is refused. Rejects with `StorageUnusable` or `StorageUnavailable`; then
 * nothing was moved, unless the message says so.
 */
export async function moveStore(
  from: string,
  to: PostgresAddress,
  { stop, onProgress }: MoveStoreOptions,
): Promise<MoveResult> {
  const isFolder = existsSync(from) && statSync(from).isDirectory();
  const source = SqliteSource.open(realStoreFile(isFolder ? join(from, STORE_FILE) : from));
  try {
    const target = await PostgresTarget.open(to);
    const emptyStore = SqliteSource.newInMemory(); // to check that the target is empty
    try {
      const totalRows = source.count();
      const result = await moveTables(source, target, {
        emptyStore,
        stop,
        onProgress: (state) => onProgress({ ...state, totalRows }),
      });
      source.markMoved(to.shown);
      return result;
    } finally {
      emptyStore.close();
      target.close();
    }
  } finally {
    source.close();
  }
}
