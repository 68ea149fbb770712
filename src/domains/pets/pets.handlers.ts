import { failure, invalidRequest } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { whenReady } from "../../maybe-promise.ts";
import { petNotFound, type petOperations } from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    listPets: ({ query: { limit, status }, after }) => pets.page(after, limit, status),

    createPet: ({ body }) => pets.add(body).then((pet) => (pet ? { body: pet } : unknownCategory())),

    getPet: ({ params: { petId } }) =>
      whenReady(pets.get(petId), (found) => found ?? failure(petNotFound, `No animal has the id ${petId}.`)),
  };
}

function unknownCategory() {
  const fault = { path: "/body/categoryId", message: "is not the id of a category" };
  return failure(invalidRequest, `The request is invalid: ${fault.path} ${fault.message}.`, { details: [fault] });
}
