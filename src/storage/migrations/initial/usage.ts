import type { Migration } from "../migration.ts";

/** What keys are used for. */
export const usageSchema: Migration = {
  name: "usage",
  // An empty `key_id` stands for all keys of the shop. The time comes first, so rows that are written together lie
  // together, and old rows are deleted from the front.
  sqlite: `
    CREATE TABLE usage_counts (
      span TEXT NOT NULL CHECK (span IN ('hour', 'day')),
      starts_at INTEGER NOT NULL,
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      key_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      status INTEGER NOT NULL,
      counts TEXT NOT NULL,
      PRIMARY KEY (span, starts_at, account_id, mode, key_id, operation, status)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE deprecated_calls (
      day INTEGER NOT NULL,
      operation TEXT NOT NULL,
      key_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      calls INTEGER NOT NULL,
      last_called_at INTEGER NOT NULL,
      PRIMARY KEY (day, operation, key_id)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE usage_counts (
      span TEXT COLLATE "C" NOT NULL CHECK (span IN ('hour', 'day')),
      starts_at BIGINT NOT NULL,
      account_id TEXT COLLATE "C" NOT NULL,
      mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
      key_id TEXT COLLATE "C" NOT NULL,
      operation TEXT COLLATE "C" NOT NULL,
      status BIGINT NOT NULL,
      counts TEXT NOT NULL,
      PRIMARY KEY (span, starts_at, account_id, mode, key_id, operation, status)
    );
    CREATE TABLE deprecated_calls (
      day BIGINT NOT NULL,
      operation TEXT COLLATE "C" NOT NULL,
      key_id TEXT COLLATE "C" NOT NULL,
      account_id TEXT COLLATE "C" NOT NULL,
      calls BIGINT NOT NULL,
      last_called_at BIGINT NOT NULL,
      PRIMARY KEY (day, operation, key_id)
    );
  `,
};
