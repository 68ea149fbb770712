import type { Migration } from "../../applied-migrations.ts";

/**
 * Shops, and all that belongs to one. The shop comes first in every key and index, except in indexes for background
 * work across shops, which start with the time.
 *
 * A row of `shops` counts the ids that the shop has given, and is the shop's lock: each change updates it first. Where
 * `account_id` is null, the account was deleted or its sandbox reset; `former_account_id` then names the former owner,
 * and the rest is removed in the background.
 *
 * `animals_allowed` is how many animals the shop may hold; null for any number.
 *
 * `due_at` is when an order or a stored response ends; a fast-forward of a sandbox moves it, but not `expires_at`, which
 * clients have seen. `last_at` is the time of the last change, or when the shop was deleted.
 *
 * `..._day` is the day to which `..._count` belongs, in the time zone of the shop. Statements know the zone by
 * `utc_offset` in milliseconds, which is that of the zone before `offset_until`; `next_offset` is the one after it. `counted_since` is when the counts of that day begin, if that is not its start.
 *
 * `confirmed_by_key`, `confirmed_by`, `pet_name` and `category_id` of an order are what they were when it was confirmed.
 * The indexes of confirmed and returned orders have all that `getSales` reads, but not on PostgreSQL, whose pages of the
 * table hold many orders.
 *
 * `metadata` holds the pairs of an animal, a category or an order as a JSON object. `has_metadata` in the row of the
 * resource is 1 where there are any, and null otherwise: most resources have none, and are then read without a look-up.
 *
 * `category_animals` counts the animals of each category. A trigger counts those that are added; the statements of the
 * service count those that are moved or deleted. `deleted_categories` has ids that must not be given again.
 * `name_folded` is the name as searches compare it; null for a name in ASCII. `name_key` is the same for names that
 * look the same. `name_start` is what animals are searched and sorted by,
 * `reference_start` what orders are searched by.
 */
export const shopSchema: Migration = {
  name: "shops",
  // AUTOINCREMENT: the number of a shop is never given again. pets_by_status has the category after the id: new animals
  // then go to the end of their status, and the animals of a category are found without reading each row. Stored
  // responses are in order of time, so only the index of digests is written at random.
  sqlite: `
    CREATE TABLE shops (
      shop INTEGER PRIMARY KEY AUTOINCREMENT,
      account_id TEXT,
      former_account_id TEXT,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      last_pet_id INTEGER NOT NULL DEFAULT 0,
      last_category_id INTEGER NOT NULL DEFAULT 0,
      last_order_id INTEGER NOT NULL DEFAULT 0,
      last_event_id INTEGER NOT NULL DEFAULT 0,
      last_at INTEGER NOT NULL DEFAULT 0,
      time_zone TEXT NOT NULL DEFAULT 'UTC',
      utc_offset INTEGER NOT NULL DEFAULT 0,
      offset_until INTEGER,
      next_offset INTEGER NOT NULL DEFAULT 0,
      currency TEXT,
      animals_allowed INTEGER,
      animals_available INTEGER NOT NULL DEFAULT 0,
      animals_pending INTEGER NOT NULL DEFAULT 0,
      animals_sold INTEGER NOT NULL DEFAULT 0,
      animals_without_status INTEGER NOT NULL DEFAULT 0,
      open_orders INTEGER NOT NULL DEFAULT 0,
      added_count INTEGER NOT NULL DEFAULT 0,
      added_day INTEGER NOT NULL DEFAULT 0,
      sold_count INTEGER NOT NULL DEFAULT 0,
      sold_day INTEGER NOT NULL DEFAULT 0,
      marked_sold_count INTEGER NOT NULL DEFAULT 0,
      marked_sold_day INTEGER NOT NULL DEFAULT 0,
      expired_count INTEGER NOT NULL DEFAULT 0,
      expired_day INTEGER NOT NULL DEFAULT 0,
      returned_count INTEGER NOT NULL DEFAULT 0,
      returned_day INTEGER NOT NULL DEFAULT 0,
      counted_since INTEGER NOT NULL DEFAULT 0,
      UNIQUE (account_id, mode)
    ) STRICT;
    CREATE INDEX shops_by_offset ON shops (offset_until) WHERE offset_until IS NOT NULL;
    CREATE TABLE pets (
      shop INTEGER NOT NULL,
      id INTEGER NOT NULL,
      name TEXT NOT NULL,
      category_id INTEGER NOT NULL,
      status TEXT CHECK (status IN ('available', 'pending', 'sold')),
      amount INTEGER,
      currency TEXT,
      reference TEXT,
      has_metadata INTEGER,
      name_folded TEXT,
      name_start TEXT GENERATED ALWAYS AS (substr(coalesce(name_folded, lower(name)), 1, 64)) STORED,
      added_at INTEGER NOT NULL,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX pets_by_status ON pets (shop, status, id, category_id);
    CREATE INDEX pets_by_name ON pets (shop, name_start, id, status);
    CREATE UNIQUE INDEX pets_by_reference ON pets (shop, reference) WHERE reference IS NOT NULL;
    CREATE TABLE categories (
      shop INTEGER NOT NULL,
      id INTEGER NOT NULL,
      name TEXT NOT NULL,
      name_key TEXT NOT NULL,
      has_metadata INTEGER,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX categories_by_name ON categories (shop, name_key);
    CREATE TABLE deleted_categories (
      shop INTEGER NOT NULL,
      id INTEGER NOT NULL,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE category_animals (
      shop INTEGER NOT NULL,
      category_id INTEGER NOT NULL,
      animals INTEGER NOT NULL,
      PRIMARY KEY (shop, category_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER pets_added AFTER INSERT ON pets BEGIN
      INSERT INTO category_animals (shop, category_id, animals) VALUES (new.shop, new.category_id, 1)
        ON CONFLICT (shop, category_id) DO UPDATE SET animals = animals + 1;
    END;
    CREATE TABLE metadata (
      shop INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('pet', 'category', 'order')),
      id INTEGER NOT NULL,
      pairs TEXT NOT NULL,
      PRIMARY KEY (shop, kind, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE store_orders (
      shop INTEGER NOT NULL,
      id INTEGER NOT NULL,
      pet_id INTEGER NOT NULL,
      reference TEXT,
      reference_start TEXT,
      status TEXT NOT NULL CHECK (status IN ('placed', 'confirmed', 'cancelled', 'expired', 'returned')),
      placed_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      due_at INTEGER NOT NULL,
      amount INTEGER,
      currency TEXT,
      confirmed_at INTEGER,
      seller TEXT,
      confirmed_by_key TEXT,
      confirmed_by TEXT,
      pet_name TEXT,
      category_id INTEGER,
      cancelled_at INTEGER,
      returned_at INTEGER,
      has_metadata INTEGER,
      PRIMARY KEY (shop, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX store_orders_by_status ON store_orders (shop, status, id);
    CREATE INDEX store_orders_by_pet ON store_orders (shop, pet_id, id);
    CREATE INDEX store_orders_by_reference ON store_orders (shop, reference, id) WHERE reference IS NOT NULL;
    CREATE INDEX store_orders_by_start ON store_orders (shop, reference_start, id) WHERE reference_start IS NOT NULL;
    CREATE INDEX store_orders_by_time ON store_orders (shop, placed_at, id);
    CREATE INDEX store_orders_confirmed ON store_orders (shop, confirmed_at, id, seller, category_id, currency, amount)
      WHERE confirmed_at IS NOT NULL;
    CREATE INDEX store_orders_returned ON store_orders (shop, returned_at, id, seller, category_id, currency, amount)
      WHERE returned_at IS NOT NULL;
    CREATE UNIQUE INDEX store_orders_open ON store_orders (shop, pet_id) WHERE status = 'placed';
    CREATE INDEX store_orders_due ON store_orders (due_at) WHERE status = 'placed';
    CREATE TABLE stored_responses (
      shop INTEGER NOT NULL,
      digest TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      response TEXT NOT NULL,
      due_at INTEGER NOT NULL,
      UNIQUE (shop, digest)
    ) STRICT;
    CREATE INDEX stored_responses_by_time ON stored_responses (due_at);
  `,
  // BY DEFAULT and not ALWAYS: a store that is moved here brings its numbers. Animals are counted for each statement,
  // because many are added by one.
  postgres: `
    CREATE TABLE shops (
      shop BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
      account_id TEXT COLLATE "C",
      former_account_id TEXT COLLATE "C",
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      last_pet_id BIGINT NOT NULL DEFAULT 0,
      last_category_id BIGINT NOT NULL DEFAULT 0,
      last_order_id BIGINT NOT NULL DEFAULT 0,
      last_event_id BIGINT NOT NULL DEFAULT 0,
      last_at BIGINT NOT NULL DEFAULT 0,
      time_zone TEXT NOT NULL DEFAULT 'UTC',
      utc_offset BIGINT NOT NULL DEFAULT 0,
      offset_until BIGINT,
      next_offset BIGINT NOT NULL DEFAULT 0,
      currency TEXT,
      animals_allowed BIGINT,
      animals_available BIGINT NOT NULL DEFAULT 0,
      animals_pending BIGINT NOT NULL DEFAULT 0,
      animals_sold BIGINT NOT NULL DEFAULT 0,
      animals_without_status BIGINT NOT NULL DEFAULT 0,
      open_orders BIGINT NOT NULL DEFAULT 0,
      added_count BIGINT NOT NULL DEFAULT 0,
      added_day BIGINT NOT NULL DEFAULT 0,
      sold_count BIGINT NOT NULL DEFAULT 0,
      sold_day BIGINT NOT NULL DEFAULT 0,
      marked_sold_count BIGINT NOT NULL DEFAULT 0,
      marked_sold_day BIGINT NOT NULL DEFAULT 0,
      expired_count BIGINT NOT NULL DEFAULT 0,
      expired_day BIGINT NOT NULL DEFAULT 0,
      returned_count BIGINT NOT NULL DEFAULT 0,
      returned_day BIGINT NOT NULL DEFAULT 0,
      counted_since BIGINT NOT NULL DEFAULT 0,
      UNIQUE (account_id, mode)
    ) WITH (fillfactor = 50);
    CREATE INDEX shops_by_offset ON shops (offset_until) WHERE offset_until IS NOT NULL;
    CREATE TABLE pets (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      name TEXT COLLATE "C" NOT NULL,
      category_id BIGINT NOT NULL,
      status TEXT CHECK (status IN ('available', 'pending', 'sold')),
      amount BIGINT,
      currency TEXT COLLATE "C",
      reference TEXT COLLATE "C",
      has_metadata BIGINT,
      name_folded TEXT COLLATE "C",
      name_start TEXT COLLATE "C" GENERATED ALWAYS AS (substr(coalesce(name_folded, lower(name)), 1, 64)) STORED,
      added_at BIGINT NOT NULL,
      PRIMARY KEY (shop, id)
    );
    CREATE INDEX pets_by_status ON pets (shop, status, id, category_id);
    CREATE INDEX pets_by_name ON pets (shop, name_start, id, status);
    CREATE UNIQUE INDEX pets_by_reference ON pets (shop, reference) WHERE reference IS NOT NULL;
    CREATE INDEX pets_by_category ON pets (shop, category_id);
    CREATE TABLE categories (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      name TEXT COLLATE "C" NOT NULL,
      name_key TEXT COLLATE "C" NOT NULL,
      has_metadata BIGINT,
      PRIMARY KEY (shop, id)
    );
    CREATE UNIQUE INDEX categories_by_name ON categories (shop, name_key);
    CREATE TABLE deleted_categories (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      PRIMARY KEY (shop, id)
    );
    CREATE TABLE category_animals (
      shop BIGINT NOT NULL,
      category_id BIGINT NOT NULL,
      animals BIGINT NOT NULL,
      PRIMARY KEY (shop, category_id)
    ) WITH (fillfactor = 50);
    CREATE FUNCTION count_added_pets() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO category_animals (shop, category_id, animals)
        SELECT shop, category_id, count(*) FROM added GROUP BY shop, category_id
        ON CONFLICT (shop, category_id) DO UPDATE SET animals = category_animals.animals + excluded.animals;
      RETURN NULL;
    END $$;
    CREATE TRIGGER pets_added AFTER INSERT ON pets REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION count_added_pets();
    CREATE TABLE metadata (
      shop BIGINT NOT NULL,
      kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('pet', 'category', 'order')),
      id BIGINT NOT NULL,
      pairs TEXT NOT NULL,
      PRIMARY KEY (shop, kind, id)
    );
    CREATE TABLE store_orders (
      shop BIGINT NOT NULL,
      id BIGINT NOT NULL,
      pet_id BIGINT NOT NULL,
      reference TEXT COLLATE "C",
      reference_start TEXT COLLATE "C",
      status TEXT NOT NULL CHECK (status IN ('placed', 'confirmed', 'cancelled', 'expired', 'returned')),
      placed_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      amount BIGINT,
      currency TEXT COLLATE "C",
      confirmed_at BIGINT,
      seller TEXT COLLATE "C",
      confirmed_by_key TEXT COLLATE "C",
      confirmed_by TEXT COLLATE "C",
      pet_name TEXT COLLATE "C",
      category_id BIGINT,
      cancelled_at BIGINT,
      returned_at BIGINT,
      has_metadata BIGINT,
      PRIMARY KEY (shop, id)
    );
    CREATE INDEX store_orders_by_status ON store_orders (shop, status, id);
    CREATE INDEX store_orders_by_pet ON store_orders (shop, pet_id, id);
    CREATE INDEX store_orders_by_reference ON store_orders (shop, reference, id) WHERE reference IS NOT NULL;
    CREATE INDEX store_orders_by_start ON store_orders (shop, reference_start, id) WHERE reference_start IS NOT NULL;
    CREATE INDEX store_orders_by_time ON store_orders (shop, placed_at, id);
    CREATE INDEX store_orders_confirmed ON store_orders (shop, confirmed_at, id)
      WHERE confirmed_at IS NOT NULL;
    CREATE INDEX store_orders_returned ON store_orders (shop, returned_at, id)
      WHERE returned_at IS NOT NULL;
    CREATE UNIQUE INDEX store_orders_open ON store_orders (shop, pet_id) WHERE status = 'placed';
    CREATE INDEX store_orders_due ON store_orders (due_at) WHERE status = 'placed';
    CREATE TABLE stored_responses (
      shop BIGINT NOT NULL,
      digest TEXT COLLATE "C" NOT NULL,
      fingerprint TEXT NOT NULL,
      response TEXT NOT NULL,
      due_at BIGINT NOT NULL,
      PRIMARY KEY (shop, digest)
    );
    CREATE INDEX stored_responses_by_time ON stored_responses (due_at);
  `,
};
