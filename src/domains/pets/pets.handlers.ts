import { failure, invalidInput, isFailure, MAX_FAULTS } from "../../contract/errors.ts";
import { type Handlers, prepared, responseWith } from "../../contract/handler.ts";
import { count } from "../../contract/messages.ts";
import { pause } from "../../storage/transaction.ts";
import { authorOf } from "../events/publish.ts";
import { faultOfListByName, petsByName } from "./lists/pets-by-name.store.ts";
import { type petOperations, shopFull } from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";
import type { ShopFull } from "./pets-in-shop.store.ts";
import type { ImportedPet, PetFault } from "./several/pet-import-plan.ts";
import { compilePetReader, isFaulty } from "./several/pet-reader.ts";
import { FAULTS_OF_A_PET, type severalPetsOperations } from "./several/several-pets.operations.ts";

/** How many animals of an import are validated in one piece of work. */
const PETS_AT_ONCE = 50;

/** The animals of an import: those without faults, each with its place, and the faults of the others. */
interface ReadAnimals {
  readonly sound: readonly { readonly index: number; readonly pet: ImportedPet }[];
  readonly faults: readonly PetFault[];
}

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
      conclude: async ({ caller: { shop } }) => full(await pets.whyRefused(shop)),
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

export function severalPetsHandlers(store: PetStore): Handlers<typeof severalPetsOperations> {
  const read = compilePetReader();
  return {
    importPets: prepared<(typeof severalPetsOperations)[0], ReadAnimals>(
      function* ({ body: { animals, onError } }) {
        const sound: { index: number; pet: ImportedPet }[] = [];
        const faults: PetFault[] = [];
        for (const [index, animal] of animals.entries()) {
          if (index > 0 && index % PETS_AT_ONCE === 0) yield* pause();
          const pet = read(animal);
          if (!isFaulty(pet)) sound.push({ index, pet });
          else for (const { path, message } of pet.slice(0, FAULTS_OF_A_PET)) faults.push({ index, path, message });
          if (onError !== "skip" && faults.length >= MAX_FAULTS) break;
        }
        return { sound, faults };
      },
      function* ({ caller, requestId, body: { onError, onExisting } }, { sound, faults }) {
        const skips = onError === "skip";
        if (faults.length > 0 && !skips) return refusedImport(faults);
        const pets = sound.map(({ pet }) => pet);
        const rules = { skipsFaults: skips, onExisting };
        const result = yield* store.addSeveral(authorOf(caller, requestId), pets, rules);
        if (isFailure(result)) return result;
        if ("refused" in result) return full(result);
        const indexOf = (place: number) => (sound[place] as { index: number }).index;
        const more = result.faults.map((fault) => ({ ...fault, index: indexOf(fault.index) }));
        if (more.length > 0 && !skips) return refusedImport(more);
        return {
          body: {
            animals: result.imported.map(({ index, pet: { id }, outcome }) => ({ index: indexOf(index), id, outcome })),
            faults: [...faults, ...more].toSorted((one, other) => one.index - other.index),
          },
        };
      },
    ),

    *deletePets({ caller, requestId, body: { ids } }) {
      const deleted = yield* store.deleteSeveral(authorOf(caller, requestId), ids);
      return isFailure(deleted) ? deleted : { body: { deleted } };
    },
  };
}

function refusedImport(faults: readonly PetFault[]) {
  return invalidInput(faults.map(({ index, path, message }) => ({ path: `/body/animals/${index}${path}`, message })));
}

function full({ allowed }: ShopFull) {
  return failure(
    shopFull,
    `The shop may hold ${count(Number(allowed), "animal")}. Delete some, or ask for another plan.`,
  );
}
