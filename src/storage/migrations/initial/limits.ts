import type { Migration } from "../migration.ts";

/** Windows of accounts and bans of keys. */
export const limitTables: Migration = {
  name: "limits",
  // Ends are kept by the time since a start of the machine too: `boot` tells which one; 0 is none.
  sqlite: `
    CREATE TABLE limit_windows (
      account_id TEXT PRIMARY KEY,
      minute_ends_at INTEGER NOT NULL,
      minute_used INTEGER NOT NULL,
      day INTEGER NOT NULL,
      day_used INTEGER NOT NULL,
      previous_day INTEGER NOT NULL,
      previous_day_used INTEGER NOT NULL,
      minute_ends_after INTEGER NOT NULL DEFAULT 0,
      boot INTEGER NOT NULL DEFAULT 0,
      earlier_day INTEGER NOT NULL DEFAULT 0,
      earlier_day_used INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE key_bans (
      key_id TEXT PRIMARY KEY,
      ends_at INTEGER NOT NULL,
      level INTEGER NOT NULL,
      ends_after INTEGER NOT NULL DEFAULT 0,
      boot INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE limit_windows (
      account_id TEXT COLLATE "C" PRIMARY KEY,
      minute_ends_at BIGINT NOT NULL,
      minute_used BIGINT NOT NULL,
      day BIGINT NOT NULL,
      day_used BIGINT NOT NULL,
      previous_day BIGINT NOT NULL,
      previous_day_used BIGINT NOT NULL,
      minute_ends_after BIGINT NOT NULL DEFAULT 0,
      boot BIGINT NOT NULL DEFAULT 0,
      earlier_day BIGINT NOT NULL DEFAULT 0,
      earlier_day_used BIGINT NOT NULL DEFAULT 0
    );
    CREATE TABLE key_bans (
      key_id TEXT COLLATE "C" PRIMARY KEY,
      ends_at BIGINT NOT NULL,
      level BIGINT NOT NULL,
      ends_after BIGINT NOT NULL DEFAULT 0,
      boot BIGINT NOT NULL DEFAULT 0
    );
  `,
};
