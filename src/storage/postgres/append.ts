import type { Append, SqlParameter, Statement } from "../storage.ts";

/**
 * The statement, with its parameters, that adds rows to one list. Each of `rows` begins with the time and the list;
 * the values follow.
 */
export function appendTogether(
  { insertAll }: Append,
  rows: readonly (readonly SqlParameter[])[],
): [Statement, SqlParameter[]] {
  const [, list = null] = rows[0] ?? [];
  let now = 0;
  for (const [at] of rows) now = Math.max(now, Number(at));
  const values = rows.map((row) => row.slice(2));
  const text = JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  return [insertAll, [now, list, rows.length, text]];
}
