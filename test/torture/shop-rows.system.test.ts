// The check is checked: each thing that does not fit together must be noticed.
import { Database } from "bun:sqlite";
import { beforeEach, expect, test } from "bun:test";
import { migrations } from "../../src/app/schema.ts";
import { rowViolations } from "./shop-rows.ts";

let store: Database;
beforeEach(() => {
  store = new Database(":memory:");
  for (const { sqlite } of migrations) store.run(sqlite);
  store.run(`
    INSERT INTO pets (shop, id, name, category_id, status, added_at) VALUES (1, 1, 'shop 1', 5, 'pending', 0), (1, 2, 'shop 2', 5, NULL, 0);
    INSERT INTO category_animals VALUES (1, 5, 2);
    INSERT INTO events (shop, id, at, type, under, actor, data) VALUES
      (1, 1, 0, 'pet.created', 1, 'system', '{"status":"available"}'), (1, 2, 0, 'pet.created', 2, 'system', '{}'),
      (1, 3, 0, 'order.placed', 1, 'system', '{"status":"placed"}'), (1, 4, 0, 'pet.updated', 1, 'system', '{"status":"pending"}'),
      (1, 5, 0, 'pet.created', 3, 'system', '{"status":"sold"}'), (1, 6, 0, 'pet.deleted', 3, 'system', NULL);
    INSERT INTO store_orders (shop, id, pet_id, status, placed_at, expires_at, due_at)
      VALUES (1, 1, 1, 'placed', 0, 1, 1), (1, 2, 1, 'cancelled', 0, 1, 1);
  `);
});

const found = () => rowViolations(<R>(sql: string) => store.query<R, []>(sql).all());

test("a consistent store has no violations", () => {
  expect(found()).toEqual([]);
});

test.each([
  ["UPDATE pets SET status = 'sold' WHERE id = 1", "1: its last event shows another status"],
  ["UPDATE pets SET status = 'sold' WHERE id = 2", "2: its last event shows another status"],
  ["UPDATE pets SET status = NULL WHERE id = 1", "1: its last event shows another status"],
  ["DELETE FROM pets WHERE id = 1", "1: it is gone, and no event says so"],
  ["DELETE FROM events WHERE type = 'pet.deleted'", "3: it is gone, and no event says so"],
  ["UPDATE pets SET status = 'sold' WHERE id = 1", "1: an order is open, and the animal is not pending"],
  ["DELETE FROM pets WHERE id = 1", "1: an order is open, and the animal is not pending"],
  ["DROP INDEX store_orders_open; UPDATE store_orders SET status = 'placed'", "1: it has two open orders"],
  ["UPDATE category_animals SET animals = 3", "5: the animals of this category are counted wrongly"],
])("the checker reports %s: %s", (change, misfit) => {
  store.run(change);
  expect(found()).toContain(misfit);
});
