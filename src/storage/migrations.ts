/** One step of the schema. Steps are never changed after their release; new ones come at the end. */
export interface Migration {
  readonly name: string;
  /** The statements for SQLite. Another engine adds its own beside it. */
  readonly sqlite: string;
}

/** All steps, in order. The version of a schema is the number of steps that it has taken. */
export const migrations: readonly Migration[] = [
  {
    name: "animals",
    // AUTOINCREMENT: an id is never given twice, also after its animal is deleted.
    sqlite: `
      CREATE TABLE pets (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        category_id INTEGER NOT NULL,
        status TEXT CHECK (status IN ('available', 'pending', 'sold'))
      ) STRICT;
      CREATE INDEX pets_by_status ON pets (status, id);
    `,
  },
  {
    name: "accounts and API keys",
    sqlite: `
      CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        plan TEXT NOT NULL,
        per_minute INTEGER CHECK (per_minute > 0),
        per_day INTEGER CHECK (per_day > 0),
        created_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE api_keys (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id),
        name TEXT NOT NULL,
        digest TEXT NOT NULL UNIQUE,
        hint TEXT NOT NULL,
        scopes TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        revoked_at INTEGER,
        last_used_at INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);
    `,
  },
  {
    name: "limits",
    sqlite: `
      CREATE TABLE limit_windows (
        account_id TEXT PRIMARY KEY,
        minute_ends_at INTEGER NOT NULL,
        minute_used INTEGER NOT NULL,
        day INTEGER NOT NULL,
        day_used INTEGER NOT NULL,
        previous_day INTEGER NOT NULL,
        previous_day_used INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE key_bans (
        key_id TEXT PRIMARY KEY,
        ends_at INTEGER NOT NULL,
        level INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    name: "the world of the keys",
    // One row at the most. A store that has a key of production was production's all along.
    sqlite: `
      CREATE TABLE key_world (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        world TEXT NOT NULL CHECK (world IN ('live', 'test'))
      ) STRICT;
      INSERT INTO key_world (only, world)
        SELECT 1, 'live' WHERE EXISTS (SELECT 1 FROM api_keys WHERE substr(hint, 1, 9) = 'psk_live_');
    `,
  },
];
