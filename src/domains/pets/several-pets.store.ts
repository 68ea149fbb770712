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

/** Some of several animals belong to orders, so none was deleted. */
interface RefusedDeletion {
  readonly refused: "ordered";
  /** By the ids of these animals. */
  readonly orders: ReadonlyMap<bigint, DecidingOrder>;
}

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
): Change<readonly bigint[] | RefusedDeletion> {
  const { shop } = author;
  const locked = yield* lockShop(shop, clock.now());
  let pets = yield* petsOf(shop, ids);
  const held = pets.filter(({ status }) => status === "pending" || status === "sold"); // others belong to no order
  if (orderOf && held.length > 0) {
    const found = yield* together(held.map(({ id }) => orderOf(locked, id)));
    const orders = new Map(held.flatMap(({ id }, index) => (found[index] ? [[id, found[index]]] : [])));
    if (orders.size > 0) return { refused: "ordered", orders };
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
