import type { Migration } from "../../applied-migrations.ts";

/**
 * Accounts and API keys. An account with `deleted_at` is gone for clients; what is left of it is removed in the background.
 * The keys of one with `suspended_at` may do nothing until it is resumed. `planned_end` is the end that a key got when it
 * was created, and `expires_at` its current end, which a rotation makes earlier. `banned_until` is the end of its last
 * ban, and `bans` the number of its bans in a row. `changed` is the number of the account's last change, and
 * `account_changes` has that of the last one of all: other processes poll it.
 */
export const accountSchema: Migration = {
  name: "accounts",
  sqlite: `
    CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      plan TEXT NOT NULL,
      per_minute INTEGER CHECK (per_minute > 0),
      per_day INTEGER CHECK (per_day > 0),
      animals INTEGER CHECK (animals > 0),
      created_at INTEGER NOT NULL,
      deleted_at INTEGER,
      suspended_at INTEGER,
      changed INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX accounts_by_change ON accounts (changed);
    CREATE TABLE account_changes (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      number INTEGER NOT NULL
    ) STRICT;
    INSERT INTO account_changes (only_row, number) VALUES (1, 0);
    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      scopes TEXT NOT NULL,
      limit_per_minute INTEGER,
      created_at INTEGER NOT NULL,
      planned_end INTEGER,
      expires_at INTEGER,
      revoked_at INTEGER,
      last_used_at INTEGER,
      banned_until INTEGER,
      bans INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);
    CREATE TABLE store_environment (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      environment TEXT NOT NULL CHECK (environment IN ('production', 'other'))
    ) STRICT;
    CREATE TABLE store_generation (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      generation TEXT NOT NULL
    ) STRICT;
  `,
  postgres: `
    CREATE TABLE accounts (
      id TEXT COLLATE "C" PRIMARY KEY,
      name TEXT NOT NULL,
      plan TEXT NOT NULL,
      per_minute BIGINT CHECK (per_minute > 0),
      per_day BIGINT CHECK (per_day > 0),
      animals BIGINT CHECK (animals > 0),
      created_at BIGINT NOT NULL,
      deleted_at BIGINT,
      suspended_at BIGINT,
      changed BIGINT NOT NULL DEFAULT 0
    );
    CREATE INDEX accounts_by_change ON accounts (changed);
    CREATE TABLE account_changes (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      number BIGINT NOT NULL
    );
    INSERT INTO account_changes (only_row, number) VALUES (1, 0);
    CREATE TABLE api_keys (
      id TEXT COLLATE "C" PRIMARY KEY,
      account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id),
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      name TEXT NOT NULL,
      digest TEXT COLLATE "C" NOT NULL UNIQUE,
      hint TEXT NOT NULL,
      scopes TEXT NOT NULL,
      limit_per_minute BIGINT,
      created_at BIGINT NOT NULL,
      planned_end BIGINT,
      expires_at BIGINT,
      revoked_at BIGINT,
      last_used_at BIGINT,
      banned_until BIGINT,
      bans BIGINT NOT NULL DEFAULT 0
    );
    CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);
    CREATE TABLE store_environment (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      environment TEXT NOT NULL CHECK (environment IN ('production', 'other'))
    );
    CREATE TABLE store_generation (
      only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
      generation TEXT COLLATE "C" NOT NULL
    );
  `,
};
