import type { Migration } from "../../applied-migrations.ts";

/**
 * The log of each shop: one row for each resource that a change has changed, with ids from 1 on without gaps.
 *
 * `under` is the id that the event is found by, such as of the animal that was ordered, or null. `subject` is the id of
 * the changed resource; null where that is `under`, as in most events. `actor` is the id of a key, `key` for a
 * key that readers of the log must not see, `system` or `operator`. `data` is the resource after the change, and
 * `previous` a JSON Merge Patch that turns it into the resource before the change. Both are JSON as the API shows it.
 */
export const eventSchema: Migration = {
  name: "events",
  sqlite: `
    CREATE TABLE events (
      shop INTEGER NOT NULL,
      id INTEGER NOT NULL,
      at INTEGER NOT NULL,
      type TEXT NOT NULL,
      under INTEGER,
      subject TEXT,
      actor TEXT NOT NULL,
      request_id TEXT,
      data TEXT,
      previous TEXT,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX events_under ON events (shop, under, id);
  `,
  postgres: `
    CREATE TABLE events (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      at BIGINT NOT NULL,
      under BIGINT,
      type TEXT NOT NULL,
      subject TEXT,
      actor TEXT NOT NULL,
      request_id TEXT,
      data TEXT,
      previous TEXT,
      PRIMARY KEY (shop, id)
    );
    CREATE INDEX events_under ON events (shop, under, id);
  `,
};
