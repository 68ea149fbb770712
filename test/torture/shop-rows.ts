import type { ShownAnimal } from "../harness/ledger.ts";
import type { ShownOrder } from "./shop-ledger.ts";

/** Reads rows of the store. */
type Read = <R>(sql: string) => R[];

/** All animals of the shop and all orders, in the order of their ids, which are digits as in a response. */
export function shopRows(read: Read): [ShownAnimal[], ShownOrder[]] {
  return [
    read(`
      SELECT CAST(id AS TEXT) AS id, name, CAST(category_id AS TEXT) AS categoryId, status FROM pets
      WHERE name LIKE 'shop %' ORDER BY pets.id
    `),
    read(`
      SELECT CAST(id AS TEXT) AS id, CAST(pet_id AS TEXT) AS petId, status FROM store_orders ORDER BY store_orders.id
    `),
  ];
}

/** The contradictions in the store, in words. */
export function rowViolations(read: Read): string[] {
  const wrong = {
    "its last event shows another status": `
      SELECT id FROM pets WHERE status IS NOT (
        SELECT data ->> '$.status' FROM events WHERE events.shop = pets.shop AND under = pets.id AND type LIKE 'pet.%'
        ORDER BY events.id DESC LIMIT 1)`,
    "it is gone, and no event says so": `
      SELECT DISTINCT under AS id FROM events
      WHERE type = 'pet.created' AND (shop, under) NOT IN (SELECT shop, id FROM pets)
        AND (shop, under) NOT IN (SELECT shop, under FROM events WHERE type = 'pet.deleted')`,
    "an order is open, and the animal is not pending": `
      SELECT pet_id AS id FROM store_orders
      WHERE status = 'placed' AND (SELECT status FROM pets WHERE pets.shop = store_orders.shop AND pets.id = pet_id) IS NOT 'pending'`,
    "it has two open orders": `
      SELECT pet_id AS id FROM store_orders WHERE status = 'placed' GROUP BY shop, pet_id HAVING count(*) > 1`,
    "the animals of this category are counted wrongly": `
      SELECT category_id AS id FROM (
        SELECT shop, category_id, count(*) AS animals FROM pets GROUP BY shop, category_id
        EXCEPT SELECT shop, category_id, animals FROM category_animals)`,
  };
  return Object.entries(wrong).flatMap(([what, sql]) => read<{ id: number }>(sql).map(({ id }) => `${id}: ${what}`));
}
