import type { Migration } from "../../applied-migrations.ts";

/**
 * The log of each shop: one row for each resource that a change has changed, with ids from 1 on without gaps.
 *
 * `pet_id` is the animal that the event is about, or whose order it is about. `subject` is the id of the changed
 * resource; null where that is the animal itself, which most events are about. `actor` is the id of a key, `key` for a
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
      pet_id INTEGER,
      subject TEXT,
      actor TEXT NOT NULL,
      request_id TEXT,
      data TEXT,
      previous TEXT,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX events_by_pet ON events (shop, pet_id, id);
  `,
  postgres: `
    CREATE TABLE events (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      at BIGINT NOT NULL,
      pet_id BIGINT,
      type TEXT NOT NULL,
      subject TEXT,
      actor TEXT NOT NULL,
      request_id TEXT,
      data TEXT,
      previous TEXT,
      PRIMARY KEY (shop, id)
    );
    CREATE INDEX events_by_pet ON events (shop, pet_id, id);
  `,
};
