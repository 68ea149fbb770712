import { type Statement, statements } from "../../src/storage/statement.ts";

if (import.meta.main) {
  await import("../../src/cli/run.ts"); // loads all modules that make statements
  await Bun.write(Bun.stdout, JSON.stringify(statements));
  process.exit();
}

// In a process of its own: tests make statements, too.
const { stdout } = Bun.spawnSync([process.execPath, import.meta.path]);

/** The statements of all stores. Their SQL is in one line each. */
export const allStatements = (JSON.parse(stdout.toString()) as Statement[]).map(({ sql, kind, acrossShops }) => ({
  sql: oneLine(sql),
  kind,
  acrossShops,
}));

export function oneLine(sql: string): string {
  return sql.trim().replaceAll(/\s+/g, " ");
}
