import type { Migration } from "../../applied-migrations.ts";

/**
 * Records of requests. `number` counts the records of a shop, so the oldest can be found. Where `shop` is 0, the request
 * had no valid key. `request_records_by_time` has the columns of all filters, so that only matching rows are looked up.
 * `facts` is JSON.
 */
export const requestSchema: Migration = {
  name: "requests",
  sqlite: `
    CREATE TABLE request_numbers (
      shop INTEGER PRIMARY KEY,
      last INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE request_records (
      shop INTEGER NOT NULL,
      number INTEGER NOT NULL,
      id TEXT NOT NULL,
      at INTEGER NOT NULL,
      key_id TEXT NOT NULL,
      operation TEXT NOT NULL,
      status INTEGER NOT NULL,
      code TEXT NOT NULL,
      facts TEXT NOT NULL,
      PRIMARY KEY (shop, number)
    ) STRICT;
    CREATE UNIQUE INDEX request_records_by_id ON request_records (shop, id);
    CREATE INDEX request_records_by_time ON request_records (shop, at, number, key_id, status, operation, code);
    CREATE INDEX request_records_due ON request_records (at);
  `,
  postgres: `
    CREATE TABLE request_numbers (
      shop BIGINT PRIMARY KEY,
      last BIGINT NOT NULL
    );
    CREATE TABLE request_records (
      shop BIGINT NOT NULL,
      number BIGINT NOT NULL,
      id TEXT COLLATE "C" NOT NULL,
      at BIGINT NOT NULL,
      key_id TEXT COLLATE "C" NOT NULL,
      operation TEXT COLLATE "C" NOT NULL,
      status BIGINT NOT NULL,
      code TEXT COLLATE "C" NOT NULL,
      facts TEXT NOT NULL,
      PRIMARY KEY (shop, number)
    );
    CREATE UNIQUE INDEX request_records_by_id ON request_records (shop, id);
    CREATE INDEX request_records_by_time ON request_records (shop, at, number, key_id, status, operation, code);
    CREATE INDEX request_records_due ON request_records (at);
  `,
};
