import { invalidInput, isFailure, MAX_FAULTS } from "../../../contract/errors.ts";
import { type Handlers, prepared } from "../../../contract/handler.ts";
import { pause } from "../../../storage/transaction.ts";
import { authorOf } from "../../events/publish.ts";
import { fullFailure } from "../counts/pets-in-shop.store.ts";
import type { PetChecks } from "../pet-change.ts";
import { addPets } from "./pet-imports.store.ts";
import { compilePetReader, type ImportedPet, isFaulty, type PetFault } from "./pet-imports.ts";
import { FAULTS_OF_A_PET, type importPets, type severalPetsOperations } from "./several-pets.operations.ts";
import { deletePets } from "./several-pets.store.ts";

/** How many animals of an import are validated in one piece of work. */
const PETS_AT_ONCE = 50;

/** The animals of an import: those without faults, each with its place, and the faults of the others. */
interface ReadAnimals {
  readonly sound: readonly { readonly index: number; readonly pet: ImportedPet }[];
  readonly faults: readonly PetFault[];
}

export function severalPetsHandlers(checks: PetChecks): Handlers<typeof severalPetsOperations> {
  const read = compilePetReader();
  return {
    importPets: prepared<typeof importPets, ReadAnimals>(
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
        const result = yield* addPets(checks, authorOf(caller, requestId), pets, rules);
        if (isFailure(result)) return result;
        if ("refused" in result) return fullFailure(result);
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
      const deleted = yield* deletePets(checks, authorOf(caller, requestId), ids);
      return isFailure(deleted) ? deleted : { body: { deleted } };
    },
  };
}

function refusedImport(faults: readonly PetFault[]) {
  return invalidInput(faults.map(({ index, path, message }) => ({ path: `/body/animals/${index}${path}`, message })));
}
