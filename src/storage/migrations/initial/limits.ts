import type { Migration } from "../migration.ts";

/** Windows of shops. */
export const limitSchema: Migration = {
  name: "limits",
  // `ahead` is how far the clock of a sandbox is ahead of real time. All times in its rows use that clock.
  // `…_at` and `…_after` are the same end: in Unix milliseconds, and in milliseconds since the boot that `boot`
  // identifies. Rows of Valkey have 0 in `boot`, and repeat `…_at` in `…_after`, so that they can be compared.
  // `…_after` is 0 if there is no window.
  sqlite: `
    CREATE TABLE limit_windows (
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      minute_ends_at INTEGER NOT NULL,
      minute_used INTEGER NOT NULL,
      day INTEGER NOT NULL,
      day_used INTEGER NOT NULL,
      previous_day INTEGER NOT NULL,
      previous_day_used INTEGER NOT NULL,
      minute_ends_after INTEGER NOT NULL DEFAULT 0,
      boot INTEGER NOT NULL DEFAULT 0,
      earlier_day INTEGER NOT NULL DEFAULT 0,
      earlier_day_used INTEGER NOT NULL DEFAULT 0,
      ahead INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (account_id, mode)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE limit_windows (
      account_id TEXT COLLATE "C" NOT NULL,
      mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
      minute_ends_at BIGINT NOT NULL,
      minute_used BIGINT NOT NULL,
      day BIGINT NOT NULL,
      day_used BIGINT NOT NULL,
      previous_day BIGINT NOT NULL,
      previous_day_used BIGINT NOT NULL,
      minute_ends_after BIGINT NOT NULL DEFAULT 0,
      boot BIGINT NOT NULL DEFAULT 0,
      earlier_day BIGINT NOT NULL DEFAULT 0,
      earlier_day_used BIGINT NOT NULL DEFAULT 0,
      ahead BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (account_id, mode)
    );
  `,
};
