import { isDeepStrictEqual } from "node:util";
import type { Fault } from "../../contract/errors.ts";
import type { EventFilter } from "../../contract/event-filter.ts";
import { Int64 } from "../../contract/schemas.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { unlessEmpty } from "../metadata/metadata.schemas.ts";
import { replaceMetadata } from "../metadata/metadata.store.ts";
import { patched } from "../metadata/patched.ts";
import { addToFigure, type LockedShop } from "../shops/locked-shop.ts";
import { priceIn } from "../shops/prices.ts";
import { countInCategories } from "./counts/category-animals.store.ts";
import { countStatus, markedSold } from "./counts/pet-figures.ts";
import { notACategory, petUpdated } from "./pets.operations.ts";
import type { NewPet, Pet, PetPatch, PetStatus } from "./pets.schemas.ts";
import { byId, setStatus, toPet } from "./pets.statements.ts";
import { petFields } from "./pets.table.ts";
import { isAllowed, type StatusCause } from "./transitions.ts";

/** The events of animals. */
export const petEvent = eventsOf<Pet>(({ id }) => ({ under: id, subjectId: null }));

/** What animals are checked by when they change. */
export interface PetChecks {
  readonly clock: Clock;
  /** Part of a transaction: true if an animal may be in this category. If undefined, it may be in any. */
  readonly categoryExists: ((shop: LockedShop, categoryId: bigint) => Query<boolean>) | undefined;
  /**
   * Part of a transaction: the order that decides the animal's status; undefined if none does. It may first expire an
   * order, which changes the animal. If undefined, no order decides.
   */
  readonly orderOf: ((shop: LockedShop, petId: bigint) => Change<DecidingOrder | undefined>) | undefined;
}

/** An order that decides the status of its animal: it is open and reserves the animal, or it has sold the animal. */
export interface DecidingOrder {
  readonly id: bigint;
  readonly isOpen: boolean;
}

export const unknownCategory: Fault = { path: "/categoryId", message: notACategory };

/** What is wrong with a reference that this animal has. */
export function usedBy({ id }: Pick<Pet, "id">): string {
  return `is that of the animal ${id}`;
}

/** A new animal without its id. `currency` is that of a price which has none, as far as it is known. */
export function completePet(
  { price, metadata, ...fields }: NewPet,
  currency: string | undefined,
): Omit<Pet, "id"> | Fault {
  const pet: Omit<Pet, "id"> = fields;
  if (price) {
    const complete = priceIn(currency, price);
    if ("message" in complete) return complete;
    pet.price = complete;
  }
  const pairs = unlessEmpty(metadata);
  if (pairs) pet.metadata = pairs;
  return pet;
}

/** The animal with the fields of the patch (RFC 7396). `currency` is that of a price which has none, as far as it is known. */
export function patchedPet(before: Pet, patch: PetPatch, currency: string | undefined): Pet | Fault {
  const price = patch.price ? priceIn(currency, patch.price, before.price) : patch.price;
  if (price && "message" in price) return price;
  return patched<Pet>(before, { ...before, ...patch, price: price === undefined ? before.price : price });
}

export function isSamePet(one: Pet, other: Pet): boolean {
  return isDeepStrictEqual(one, other);
}

/** Part of a transaction: writes an animal that a client has changed. Returns the event, which the transaction must publish. */
export function* changePet(locked: LockedShop, before: Pet, after: Pet): Change<NewEvent> {
  const { shop } = locked;
  const { id, status, categoryId, metadata } = after;
  if (status !== before.status) {
    countStatus(locked, before.status, status);
    if (status === "sold") addToFigure(locked, markedSold);
  }
  yield* petFields.update({ shop, id }, before, after);
  yield* replaceMetadata(shop, "pet", id, before.metadata, metadata);
  if (categoryId !== before.categoryId) {
    yield* countInCategories(locked, [
      [before.categoryId, -1],
      [categoryId, 1],
    ]);
  }
  return petEvent(petUpdated, after, before);
}

/** Selects the events of an animal and of its orders. */
export const petEventFilter: EventFilter = {
  name: "petId",
  schema: Int64({ description: "Only events of this animal and its orders.", examples: [7n] }),
  passes: ({ subject, data }, id) =>
    subject.type === "pet" ? subject.id === id : subject.type === "order" && String(data?.["petId"]) === id,
};

/**
 * Part of a transaction: changes an animal's status if the table of transitions allows it. Returns the animal and the
 * event, which the transaction must publish.
 */
export function* changeStatus(locked: LockedShop, id: bigint, to: PetStatus, cause: StatusCause) {
  const { shop } = locked;
  const row = yield* first(byId, shop, id);
  if (!row) return "not found" as const;
  const from = row.status ?? undefined;
  if (!isAllowed(from, to, cause)) return { refused: "transition", from } as const;
  yield* all(setStatus, to, shop, id);
  countStatus(locked, from, to);
  const before = toPet(row);
  const pet = { ...before, status: to };
  return { pet, event: petEvent(petUpdated, pet, before) };
}
