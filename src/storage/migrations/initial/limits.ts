import type { Migration } from "../../applied-migrations.ts";

/** Windows of shops, as JSON. Unused on PostgreSQL, where several processes would save different ones. */
export const limitSchema: Migration = {
  name: "limits",
  sqlite: `
    CREATE TABLE limit_windows (
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      windows TEXT NOT NULL,
      PRIMARY KEY (account_id, mode)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE limit_windows (
      account_id TEXT COLLATE "C" NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      windows TEXT NOT NULL,
      PRIMARY KEY (account_id, mode)
    );
  `,
};
