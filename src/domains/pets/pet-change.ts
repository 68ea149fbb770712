import { isDeepStrictEqual } from "node:util";
import type { EventFilter } from "../../contract/event-filter.ts";
import { Int64 } from "../../contract/schemas.ts";
import { all, type Change } from "../../storage/transaction.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { metadataRefusal, patchedMetadata, type TooMuchMetadata } from "../metadata/metadata.schemas.ts";
import { replaceMetadata } from "../metadata/metadata.store.ts";
import { addToFigure, countStatus, type LockedShop } from "../shops/figures.ts";
import { type NoCurrency, priceIn } from "../shops/prices.ts";
import { petUpdated } from "./pets.operations.ts";
import type { Pet, PetPatch } from "./pets.schemas.ts";
import { petFields, setFields } from "./pets.statements.ts";
import { moveCount } from "./pets-by-category.store.ts";

/** The events of animals. */
export const petEvent = eventsOf<Pet>(({ id }) => ({ under: id, subjectId: null }));

/** The animal with the fields of the patch (RFC 7396). `currency` is that of a price which has none, as far as it is known. */
export function patchedPet(
  before: Pet,
  patch: PetPatch,
  currency: string | undefined,
): Pet | NoCurrency | TooMuchMetadata {
  const metadata = patchedMetadata(before.metadata, patch.metadata);
  const refusal = patch.metadata && metadataRefusal(metadata);
  if (refusal) return refusal;
  const price = patch.price ? priceIn(currency, patch.price, before.price) : patch.price;
  if (price && "refused" in price) return price;
  return present<Pet>({ ...before, ...patch, price: price === undefined ? before.price : price, metadata });
}

/** The fields that have a value. */
function present<T extends object>(fields: { readonly [K in keyof T]: T[K] | null | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as T;
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
    if (status === "sold") addToFigure(locked, "marked_sold");
  }
  yield* all(setFields, shop, id, ...petFields.values(after));
  yield* replaceMetadata(shop, "pet", id, before.metadata, metadata);
  if (categoryId !== before.categoryId) yield* moveCount(locked, before.categoryId, categoryId, 1);
  return petEvent(petUpdated, after, before);
}

/** Selects the events of an animal and of its orders. */
export const petEventFilter: EventFilter = {
  name: "petId",
  schema: Int64({ description: "Only events of this animal and its orders.", examples: [7n] }),
  passes: ({ subject, data }, id) =>
    subject.type === "pet" ? subject.id === id : subject.type === "order" && String(data?.["petId"]) === id,
};
