import { failure, invalidInput, MAX_FAULTS, versionMismatch } from "../../contract/errors.ts";
import { type Handlers, prepared, successOr } from "../../contract/handler.ts";
import { count } from "../../contract/messages.ts";
import { pause } from "../../storage/transaction.ts";
import { authorOf } from "../events/publish.ts";
import { tooMuchMetadata } from "../metadata/metadata.schemas.ts";
import { noCurrency } from "../shops/prices.ts";
import { type ImportedPet, type PetFault, takenBy } from "./pet-import-plan.ts";
import { compilePetReader, isFaulty } from "./pet-reader.ts";
import {
  invalidTransition,
  notACategory,
  petHasOpenOrder,
  petNotFound,
  type petOperations,
  referenceTaken,
  shopFull,
} from "./pets.operations.ts";
import type { PetStore } from "./pets.store.ts";
import { faultOfListByName, petsByName } from "./pets-by-name.store.ts";
import type { ShopFull } from "./pets-in-shop.store.ts";
import { FAULTS_OF_A_PET, petsNotDeletable, type severalPetsOperations } from "./several-pets.operations.ts";

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
        return successOr(added, {
          fault: ({ path, message }) =>
            path === "/reference" ? taken(message) : invalidInput([{ path: `/body${path}`, message }]),
        });
      },
      conclude: async ({ caller: { shop } }) => full(await pets.whyRefused(shop)),
    },

    *getPet({ caller, params: { petId } }) {
      const found = yield* pets.get(caller.shop, petId);
      return found ? { body: found } : notFound(petId);
    },

    *updatePet({ caller, requestId, params: { petId }, body, matches }) {
      return successOr(yield* pets.update(authorOf(caller, requestId), petId, body, matches), {
        "not found": () => notFound(petId),
        "not expected": () => versionMismatch("animal", petId),
        "unknown category": () => invalidInput([{ path: "/body/categoryId", message: notACategory }]),
        "no currency": noCurrency,
        "reference taken": ({ owner }) => taken(takenBy({ id: owner })),
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
      const outcome = yield* store.deleteSeveral(authorOf(caller, requestId), ids);
      if (!("orders" in outcome)) return { body: { deleted: [...outcome] } };
      const { orders } = outcome;
      const details = ids.flatMap((id, place) => {
        const order = orders.get(id);
        const message = `${order?.isOpen ? "is reserved" : "was sold"} by the order ${order?.id}`;
        return order ? [{ path: `/body/ids/${place}`, message }] : [];
      });
      const message = `${count(orders.size, "animal")} cannot be deleted, as an order reserves or has sold each.`;
      return failure(petsNotDeletable, message, { details: details.slice(0, MAX_FAULTS) });
    },
  };
}

function refusedImport(faults: readonly PetFault[]) {
  return invalidInput(faults.map(({ index, path, message }) => ({ path: `/body/animals/${index}${path}`, message })));
}

function notFound(id: bigint) {
  return failure(petNotFound, `No animal has the id ${id}.`);
}

function ordered(id: bigint, consequence: string) {
  return failure(petHasOpenOrder, `The animal ${id} has an open order: ${consequence}.`);
}

function full({ allowed }: ShopFull) {
  return failure(
    shopFull,
    `The shop may hold ${count(Number(allowed), "animal")}. Delete some, or ask for another plan.`,
  );
}

function taken(message: string) {
  return failure(referenceTaken, `The reference ${message}.`);
}
