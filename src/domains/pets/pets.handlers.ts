import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { whenReady } from "../../maybe-promise.ts";
import { petNotFound, type petOperations } from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    listPets: ({ query: { limit, status }, after }) => pets.page(after, limit, status),

    createPet: ({ body }) => pets.add(body).then((pet) => ({ body: pet })),

    getPet: ({ params: { petId } }) =>
      whenReady(pets.get(petId), (found) => found ?? failure(petNotFound, `No animal has the id ${petId}.`)),
  };
}
