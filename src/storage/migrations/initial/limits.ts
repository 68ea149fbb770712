import type { Migration } from "../../applied-migrations.ts";

/** Windows of shops. On PostgreSQL, several processes would save different ones. */
export const limitSchema: Migration = {
  name: "limits",
  // Windows end in Unix milliseconds.
  sqlite: `
    CREATE TABLE limit_windows (
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      minute_used INTEGER NOT NULL,
      minute_ends INTEGER NOT NULL,
      day_used INTEGER NOT NULL,
      day_ends INTEGER NOT NULL,
      PRIMARY KEY (account_id, mode)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: "",
};
