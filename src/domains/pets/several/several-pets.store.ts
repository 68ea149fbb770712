import type { ShopNumber } from "../../../contract/caller.ts";
import { type Failure, failure, MAX_FAULTS } from "../../../contract/errors.ts";
import { count } from "../../../contract/messages.ts";
import { together } from "../../../storage/combined-steps.ts";
import { isOneOf } from "../../../storage/pages.ts";
import { cachedChange, cachedQuery, type SqlParameter } from "../../../storage/statement.ts";
import { all, type Change, first, type Query } from "../../../storage/transaction.ts";
import { type Author, publish } from "../../events/publish.ts";
import { pairsOf, replaceMetadata } from "../../metadata/metadata.store.ts";
import { addToFigure } from "../../shops/locked-shop.ts";
import { lockShop } from "../../shops/shops.store.ts";
import { countInCategories } from "../counts/category-animals.store.ts";
import { statusFigure } from "../counts/pet-figures.ts";
import { type DecidingOrder, type PetChecks, petEvent } from "../pet-change.ts";
import { petDeleted } from "../pets.operations.ts";
import type { Pet } from "../pets.schemas.ts";
import { columns, toPet } from "../pets.statements.ts";
import { type PetRow } from "../pets.table.ts";
import { MOST_BYTES, petsNotDeletable, petsTooLarge } from "./several-pets.operations.ts";

type Column = "id" | "reference";

/** The parameters of a statement on the animals that have one of these ids or references, and the condition on them. */
function selection(shop: ShopNumber, column: Column, values: readonly (bigint | string)[]) {
  const parameters: SqlParameter[] = [shop];
  const isOne = isOneOf(values, column)((value) => `$${parameters.push(value)}`);
  return { parameters, isSelected: `shop = $1 AND ${column} IS NOT NULL AND ${isOne}` };
}

/** Part of a transaction: the animals that have one of these ids or references, in ascending order of their ids. */
export function* petsWith(
  shop: ShopNumber,
  column: Column,
  values: readonly (bigint | string)[],
): Query<readonly Pet[]> {
  if (values.length === 0) return [];
  const { parameters, isSelected } = selection(shop, column, values);
  const sql = `SELECT ${columns} FROM pets WHERE ${isSelected}`;
  const rows = yield* all(cachedQuery<PetRow>(sql), ...parameters);
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(toPet); // in SQL, PostgreSQL would read by id
}

/** Part of a transaction: refuses to change or delete these animals if their metadata is too large. Their events repeat it. */
export function* refusalOf(shop: ShopNumber, column: Column, values: readonly (bigint | string)[]) {
  if (values.length === 0) return undefined;
  const { parameters, isSelected } = selection(shop, column, values);
  const sql = `SELECT sum(octet_length(${pairsOf("pet", "pets")})) AS bytes FROM pets WHERE ${isSelected} AND has_metadata = 1`;
  const bytes = (yield* first(cachedQuery<{ bytes: bigint | null }>(sql), ...parameters))?.bytes ?? 0n;
  if (bytes <= MOST_BYTES) return undefined;
  return failure(petsTooLarge, `The animals have ${bytes} bytes of metadata together; ${MOST_BYTES} are allowed.`);
}

function removeAll(shop: ShopNumber, ids: readonly bigint[]): Change<unknown> {
  const { parameters, isSelected } = selection(shop, "id", ids);
  return all(cachedChange(`DELETE FROM pets WHERE ${isSelected}`), ...parameters);
}

/**
 * A transaction: deletes animals, all or none: those that an order reserves or has sold are not deleted. Ids of no
 * animal are ignored. Returns the ids of the deleted ones.
 */
export function* deletePets(
  { clock, orderOf }: PetChecks,
  author: Author,
  ids: bigint[],
): Change<bigint[] | Failure<typeof petsNotDeletable | typeof petsTooLarge>> {
  const { shop } = author;
  const locked = yield* lockShop(shop, clock.now());
  const refusal = yield* refusalOf(shop, "id", ids);
  if (refusal) return refusal;
  let pets = yield* petsWith(shop, "id", ids);
  const held = pets.filter(({ status }) => status === "pending" || status === "sold"); // others belong to no order
  if (orderOf && held.length > 0) {
    const found = yield* together(held.map(({ id }) => orderOf(locked, id)));
    const orders = new Map(held.flatMap(({ id }, index) => (found[index] ? [[id, found[index]]] : [])));
    if (orders.size > 0) return notDeletable(ids, orders);
    pets = yield* petsWith(shop, "id", ids); // some orders may have expired
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
  yield* publish(locked, author, events);
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
