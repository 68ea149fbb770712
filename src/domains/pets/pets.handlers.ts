import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/operation.ts";
import { whenReady } from "../../maybe-promise.ts";
import { petNotFound, type petOperations } from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";

/** Below every id that an animal can have (int64). */
const BEFORE_ALL = -(2n ** 63n);

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    listPets: ({ query: { limit, status }, after }) =>
      // One more than asked for tells whether there is a next page.
      whenReady(pets.list(after ?? BEFORE_ALL, limit + 1, status), (found) => {
        if (found.length <= limit) return { body: found };
        found.pop();
        return { body: found, next: found.at(-1)?.id };
      }),

    createPet: async ({ body }) => {
      const [pet] = await pets.add([body]);
      return { body: pet as NonNullable<typeof pet> };
    },

    getPet: ({ params: { petId } }) =>
      whenReady(pets.get(petId), (pet) =>
        pet ? { body: pet } : failure(petNotFound, `No animal has the id ${petId}.`),
      ),
  };
}
