import { invalidInput } from "../../contract/errors.ts";
import { type Handlers, responseWith } from "../../contract/handler.ts";
import { authorOf } from "../events/publish.ts";
import { faultOfListByName, petsByName } from "./lists/pets-by-name.store.ts";
import type { petOperations } from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";

export function petHandlers(pets: PetStore): Handlers<typeof petOperations> {
  return {
    *listPets({ caller, query, after }) {
      const { search, sort } = query;
      if (search || sort === "name" || sort === "-name") {
        const fault = faultOfListByName(query);
        return fault ? invalidInput([fault]) : yield* petsByName(caller.shop, after as string, query.limit, query);
      }
      const position = after === undefined ? undefined : BigInt(after);
      return yield* pets.pages.page(caller.shop, position, query.limit, { ...query, sort });
    },

    createPet: {
      *change({ caller, requestId, body }) {
        const added = yield* pets.add(authorOf(caller, requestId), body);
        if (!added) return {}; // nothing was added, and no step may follow: `conclude` reads why
        return responseWith(added);
      },
      conclude: ({ caller: { shop } }) => pets.whyRefused(shop),
    },

    *getPet({ caller, params: { petId } }) {
      return responseWith(yield* pets.get(caller.shop, petId));
    },

    *updatePet({ caller, requestId, params: { petId }, body, matches }) {
      return responseWith(yield* pets.update(authorOf(caller, requestId), petId, body, matches));
    },

    *deletePet({ caller, requestId, params: { petId }, matches }) {
      return responseWith(yield* pets.delete(authorOf(caller, requestId), petId, matches));
    },
  };
}
