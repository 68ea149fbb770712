import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = 4_096;

/** Overwrites the first page of a table in a store that no process has open. Opening a store does not read that page. */
export function damageTable(store: string, table: string): void {
  const database = new Database(store);
  const root = database.query<{ page: number }, [string]>("SELECT rootpage AS page FROM sqlite_schema WHERE name = ?1");
  const start = ((root.get(table)?.page ?? 1) - 1) * PAGE;
  database.close();
  writeFileSync(store, readFileSync(store).fill(0xff, start, start + PAGE));
}
