import { type Failure, failure, MAX_FAULTS } from "../../contract/errors.ts";
import { count } from "../../contract/messages.ts";
import { together } from "../../storage/combined-steps.ts";
import { isOneOf } from "../../storage/pages.ts";
import { cachedChange, type SqlParameter } from "../../storage/statement.ts";
import { all, type Change, type Query } from "../../storage/transaction.ts";
import { type Author, publishLast } from "../events/publish.ts";
import { replaceMetadata } from "../metadata/metadata.store.ts";
import { addToFigure } from "../shops/figures.ts";
import { lockShop } from "../shops/shops.store.ts";
import { type DecidingOrder, type PetChecks, petEvent } from "./pet-change.ts";
import { statusFigure } from "./pet-figures.ts";
import { readPets } from "./pet-pages.store.ts";
import { petDeleted } from "./pets.operations.ts";
import type { Pet } from "./pets.schemas.ts";
import { countInCategories } from "./pets-by-category.store.ts";
import { petsNotDeletable } from "./several-pets.operations.ts";

/** All animals with these ids. */
function* petsOf(shop: number, ids: bigint[]): Query<readonly Pet[]> {
  const pets: Pet[] = [];
  for (let after: bigint | undefined; ; ) {
    const { items, next } = yield* readPets(shop, after, ids.length, { ids });
    pets.push(...items);
    if (next === undefined) return pets;
    after = next;
  }
}

function removeAll(shop: number, ids: readonly bigint[]): Change<unknown> {
  const parameters: SqlParameter[] = [shop];
  const isOne = isOneOf(ids)((id) => `$${parameters.push(id)}`);
  return all(cachedChange(`DELETE FROM pets WHERE shop = $1 AND ${isOne}`), ...parameters);
}

/**
 * A transaction: deletes animals, all or none: those that an order reserves or has sold are not deleted. Ids of no
 * animal are ignored. Returns the ids of the deleted ones.
 */
export function* deletePets(
  { clock, orderOf }: PetChecks,
  author: Author,
  ids: bigint[],
): Change<bigint[] | Failure<typeof petsNotDeletable>> {
  const { shop } = author;
  const locked = yield* lockShop(shop, clock.now());
  let pets = yield* petsOf(shop, ids);
  const held = pets.filter(({ status }) => status === "pending" || status === "sold"); // others belong to no order
  if (orderOf && held.length > 0) {
    const found = yield* together(held.map(({ id }) => orderOf(locked, id)));
    const orders = new Map(held.flatMap(({ id }, index) => (found[index] ? [[id, found[index]]] : [])));
    if (orders.size > 0) return notDeletable(ids, orders);
    pets = yield* petsOf(shop, ids); // some orders may have expired
  }
  if (pets.length === 0) return [];
  const deleted = pets.map(({ id }) => id);
  const categories = Map.groupBy(pets, ({ categoryId }) => categoryId);
  yield* together([
    removeAll(shop, deleted),
    countInCategories(
      locked,
      [...categories].map(([id, { length }]) => [id, -length] as const),
    ),
    ...pets.map(({ id, metadata }) => replaceMetadata(shop, "pet", id, metadata, undefined)),
  ]);
  for (const { status } of pets) addToFigure(locked, statusFigure(status), -1);
  const events = pets.map((pet) => petEvent(petDeleted, pet));
  yield* publishLast(locked, author, events);
  return deleted;
}

function notDeletable(ids: readonly bigint[], orders: ReadonlyMap<bigint, DecidingOrder>) {
  const details = ids.flatMap((id, place) => {
    const order = orders.get(id);
    const message = `${order?.isOpen ? "is reserved" : "was sold"} by the order ${order?.id}`;
    return order ? [{ path: `/body/ids/${place}`, message }] : [];
  });
  const message = `${count(orders.size, "animal")} cannot be deleted, as an order reserves or has sold each.`;
  return failure(petsNotDeletable, message, { details: details.slice(0, MAX_FAULTS) });
}
