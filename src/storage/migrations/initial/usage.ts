import type { Migration } from "../../applied-migrations.ts";

/** The columns of the requests in each hour of a day, null without any. */
const hoursOf = (type: string) => Array.from({ length: 24 }, (_, hour) => `h${hour} ${type},`).join(" ");

/** What keys are used for. */
export const usageSchema: Migration = {
  name: "usage",
  // `day` is in days since 1970. An empty `key_id` stands for all keys of the shop. The day comes first, so rows that are
  // written together lie together, and old rows are deleted from the front.
  sqlite: `
    CREATE TABLE usage_counts (
      day INTEGER NOT NULL,
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      key_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      status INTEGER NOT NULL,
      ${hoursOf("INTEGER")}
      PRIMARY KEY (day, account_id, mode, key_id, operation, status)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE usage_counts (
      day BIGINT NOT NULL,
      account_id TEXT COLLATE "C" NOT NULL,
      mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
      key_id TEXT COLLATE "C" NOT NULL,
      operation TEXT COLLATE "C" NOT NULL,
      status BIGINT NOT NULL,
      ${hoursOf("BIGINT")}
      PRIMARY KEY (day, account_id, mode, key_id, operation, status)
    );
  `,
};
