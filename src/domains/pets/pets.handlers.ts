import { failure, invalidInput, versionMismatch } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import { authorOf } from "../events/author.ts";
import { tooMuchMetadata } from "../metadata/metadata.schemas.ts";
import {
  invalidTransition,
  notACategory,
  petHasOpenOrder,
  petNotFound,
  type petOperations,
} from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    // New animals come last, so they change no page that has a next one; the version of the shop tells of other changes.
    *listPets({ caller, query, after }) {
      const page = yield* pets.pages.page(caller.shop, after, query.limit, query);
      return { ...page, lasts: page.next !== undefined && query.sort !== "-id" };
    },

    *createPet({ caller, requestId, body }) {
      return successOr(yield* pets.add(authorOf(caller, requestId), body), { "unknown category": unknownCategory });
    },

    *getPet({ caller, params: { petId } }) {
      const found = yield* pets.get(caller.shop, petId);
      return found ? { body: found } : notFound(petId);
    },

    *updatePet({ caller, requestId, params: { petId }, body, matches }) {
      return successOr(yield* pets.update(authorOf(caller, requestId), petId, body, matches), {
        "not found": () => notFound(petId),
        "not expected": () => versionMismatch("animal", petId),
        "unknown category": unknownCategory,
        metadata: tooMuchMetadata,
        "open order": () => ordered(petId, "its status changes with the order only"),
        "sold by order": ({ order }) =>
          failure(
            invalidTransition,
            `The order ${order} sold the animal ${petId}; its status changes when that order is returned.`,
          ),
      });
    },

    *deletePet({ caller, requestId, params: { petId }, matches }) {
      return successOr(yield* pets.delete(authorOf(caller, requestId), petId, matches), {
        "not found": () => notFound(petId),
        "not expected": () => versionMismatch("animal", petId),
        "open order": () => ordered(petId, "it cannot be deleted"),
      });
    },
  };
}

function notFound(id: bigint) {
  return failure(petNotFound, `No animal has the id ${id}.`);
}

function ordered(id: bigint, consequence: string) {
  return failure(petHasOpenOrder, `The animal ${id} has an open order: ${consequence}.`);
}

function unknownCategory() {
  return invalidInput([{ path: "/body/categoryId", message: notACategory }]);
}
