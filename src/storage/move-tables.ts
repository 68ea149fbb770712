import { createHash } from "node:crypto";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import { StorageUnusable } from "./errors.ts";
import { jsonWithIntegersAsText, type Row } from "./statement.ts";

/** Rows per batch. */
export const BATCH = 2_000;
/** Keeps the sum of digests within 128 bits. */
const MODULUS = 1n << 128n;

/** A table, with its columns in the order in which rows are read. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A store as a set of tables: the source, the target, or an empty store to compare the target with. */
export interface TableStore {
  /** The name of the store in messages. */
  readonly shown: string;
  /** All tables with stored rows, in an order that satisfies references between them. */
  tables(): MaybePromise<readonly MovedTable[]>;
  /** All rows of a table, in batches, in any order. */
  rows(table: MovedTable): AsyncIterable<readonly Row[]>;
  /** The largest id that the database has generated for a table; 0 if there is none, or it generates no ids for it. */
  lastId(table: MovedTable): MaybePromise<bigint>;
}

/** The target store. It is also read, to compare it with the source. Its content becomes visible when it is committed. */
export interface TargetStore extends TableStore {
  /** Deletes all rows of a table. */
  clear(table: MovedTable): Promise<void>;
  /** Adds rows from the source store. */
  add(table: MovedTable, rows: readonly Row[]): Promise<void>;
  /** Sets the last id of a table. Does nothing for 0. */
  setLastId(table: MovedTable, id: bigint): Promise<void>;
  commit(): Promise<void>;
}

export interface MoveOptions {
  /** A new store, to check that the target is empty. */
  readonly emptyStore: TableStore;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: MoveProgress) => void;
}

/** The number of rows moved so far, then the number of rows read back so far. */
export interface MoveProgress {
  readonly work: "Moving" | "Checking";
  readonly rows: number;
}

export interface MoveResult {
  /** The number of rows of each table. */
  readonly tables: Readonly<Record<string, number>>;
  /** True if the target already had all rows. */
  readonly wasThere: boolean;
}

/**
 * Moves all rows of a store to another one, and reads them back to compare them before it commits. Rejects with
 * `StorageUnusable` if the target has other data, what arrived differs, or the process must stop. Then nothing was moved.
 */
export async function moveTables(source: TableStore, target: TargetStore, options: MoveOptions): Promise<MoveResult> {
  const { emptyStore, stop, onProgress } = options;
  const tables = await source.tables();
  requireSameTables(tables, await target.tables());
  let rows = 0;
  /** Reads all rows of a table and returns their checksum. Reports the progress of `work`. */
  const readRows = async (
    store: TableStore,
    table: MovedTable,
    work?: MoveProgress["work"],
    each?: (rows: readonly Row[]) => Promise<void>,
  ) => {
    const checksum = new Checksum();
    for await (const batch of store.rows(table)) {
      if (stop.aborted) throw new StorageUnusable("It was stopped. Nothing was moved.");
      checksum.add(batch);
      await each?.(batch);
      rows += batch.length;
      if (work) onProgress({ work, rows });
    }
    return checksum;
  };
  /** The checksums of the tables of a store if the target has the same rows; otherwise undefined. */
  const checksumsIfSame = async (other: TableStore) => {
    const checksums = new Map<MovedTable, Checksum>();
    for (const table of tables) {
      const checksum = await readRows(other, table);
      if (!checksum.equals(await readRows(target, table))) return undefined;
      if ((await target.lastId(table)) < (await other.lastId(table))) return undefined;
      checksums.set(table, checksum);
    }
    return checksums;
  };

  if (!(await checksumsIfSame(emptyStore))) {
    const checksums = await checksumsIfSame(source);
    if (checksums) return { tables: rowCounts(checksums), wasThere: true };
    throw new StorageUnusable(`${target.shown} has other data: a store is moved to an empty database.`);
  }
  for (const table of tables) await target.clear(table);
  rows = 0;
  const moved = new Map<MovedTable, Checksum>();
  for (const table of tables) {
    moved.set(table, await readRows(source, table, "Moving", (batch) => target.add(table, batch)));
    await target.setLastId(table, await source.lastId(table));
  }
  rows = 0;
  for (const [table, checksum] of moved) {
    if (!(await readRows(target, table, "Checking")).equals(checksum)) {
      throw new StorageUnusable(`What arrived of the table ${table.name} is not what was sent. Nothing was moved.`);
    }
  }
  await target.commit();
  return { tables: rowCounts(moved), wasThere: false };
}

function rowCounts(checksums: ReadonlyMap<MovedTable, Checksum>): MoveResult["tables"] {
  return Object.fromEntries([...checksums].map(([{ name }, { rows }]) => [name, rows]));
}

/** Both schemas come from the same migrations. A table that only one of them has would be lost silently. */
function requireSameTables(tables: readonly MovedTable[], others: readonly MovedTable[]): void {
  if (shapeOf(tables) !== shapeOf(others)) throw new TypeError("The schemas of the two engines differ.");
}

function shapeOf(tables: readonly MovedTable[]): string {
  return JSON.stringify(tables.map(({ name, columns }) => `${name} ${columns.toSorted().join(" ")}`).toSorted());
}

/** The quoted columns, for statements of both engines. */
export function columnList(columns: MovedTable["columns"]): string {
  return columns.map((column) => `"${column}"`).join(", ");
}

/** An order-independent checksum of rows: their number and the sum of their digests (first 128 bits of SHA-256). */
class Checksum {
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
