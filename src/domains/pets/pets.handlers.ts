import { failure, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { successOr } from "../../contract/success-or.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import {
  invalidTransition,
  notACategory,
  petHasOpenOrder,
  petNotFound,
  type petOperations,
} from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";
import type { Refusal } from "./transitions.ts";

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    listPets: ({ caller, query, after }) => pets.page(caller.shop, after, query.limit, query),

    *createPet({ caller, body }) {
      return successOr(yield* pets.add(caller.shop, body), { "unknown category": unknownCategory });
    },

    getPet: ({ caller, params: { petId } }) =>
      whenReady(pets.get(caller.shop, petId), (found) => (found ? { body: found } : notFound(petId))),

    *updatePet({ caller, params: { petId }, body, matches }) {
      return successOr(yield* pets.update(caller.shop, petId, body, matches), {
        "not found": () => notFound(petId),
        "not expected": () => changedMeanwhile(petId),
        "unknown category": unknownCategory,
        "open order": () => ordered(petId, "its status changes with the order only"),
        transition: notAllowed,
      });
    },

    *deletePet({ caller, params: { petId }, matches }) {
      return successOr(yield* pets.delete(caller.shop, petId, matches), {
        "not found": () => notFound(petId),
        "not expected": () => changedMeanwhile(petId),
        "open order": () => ordered(petId, "it cannot be deleted"),
      });
    },

    listPetStatusChanges: ({ caller, params: { petId }, query: { limit }, after }) =>
      whenReady(pets.statusChanges(caller.shop, petId, after, limit), (page) => page ?? notFound(petId)),
  };
}

function notFound(id: bigint) {
  return failure(petNotFound, `No animal has the id ${id}.`);
}

function changedMeanwhile(id: bigint) {
  return failure(preconditionFailed, `The animal ${id} is not what If-Match names any more. Nothing was changed.`);
}

function ordered(id: bigint, consequence: string) {
  return failure(petHasOpenOrder, `An order for the animal ${id} is open: ${consequence}.`);
}

function notAllowed({ from, allowed }: Refusal) {
  const what = from === undefined ? "without a status" : from;
  const way =
    allowed.length > 0 ? `can become ${allowed.join(" or ")}` : "stays so, unless an order sold it and is returned";
  return failure(invalidTransition, `An animal that is ${what} ${way}.`);
}

function unknownCategory() {
  const fault = { path: "/body/categoryId", message: notACategory };
  return failure(invalidRequest, `The request is invalid: ${fault.path} ${fault.message}.`, { details: [fault] });
}
