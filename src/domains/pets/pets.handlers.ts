import { failure, invalidRequest, preconditionFailed } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
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
    listPets: ({ query, after }) => pets.page(after, query.limit, query),

    *createPet({ body }) {
      const pet = yield* pets.add(body);
      return pet ? { body: pet } : unknownCategory();
    },

    getPet: ({ params: { petId } }) =>
      whenReady(pets.get(petId), (found) => (found ? { body: found } : notFound(petId))),

    *updatePet({ params: { petId }, body, matches }) {
      const outcome = yield* pets.update(petId, body, matches);
      if (outcome === "not found") return notFound(petId);
      if (outcome === "not expected") return changedMeanwhile(petId);
      if (outcome === "unknown category") return unknownCategory();
      if (outcome === "open order") return ordered(petId, "its status changes with the order only");
      return "allowed" in outcome ? refused(outcome) : { body: outcome };
    },

    *deletePet({ params: { petId }, matches }) {
      const outcome = yield* pets.delete(petId, matches);
      if (outcome === "deleted") return { body: null };
      if (outcome === "not found") return notFound(petId);
      return outcome === "not expected" ? changedMeanwhile(petId) : ordered(petId, "it cannot be deleted");
    },

    listPetStatusChanges: ({ params: { petId }, query: { limit }, after }) =>
      whenReady(pets.statusChanges(petId, after, limit), (page) => page ?? notFound(petId)),
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

function refused({ from, allowed }: Refusal) {
  const what = from === undefined ? "without a status" : from;
  const way =
    allowed.length > 0 ? `can become ${allowed.join(" or ")}` : "stays so, unless an order sold it and is returned";
  return failure(invalidTransition, `An animal that is ${what} ${way}.`);
}

function unknownCategory() {
  const fault = { path: "/body/categoryId", message: notACategory };
  return failure(invalidRequest, `The request is invalid: ${fault.path} ${fault.message}.`, { details: [fault] });
}
