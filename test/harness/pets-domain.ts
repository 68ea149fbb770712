import { domains } from "../../src/app/domains.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { orderEventTypes } from "../../src/domains/orders/orders.operations.ts";
import type { PetChecks } from "../../src/domains/pets/pet-change.ts";
import { petHandlers } from "../../src/domains/pets/pets.handlers.ts";
import { petEventTypes, petOperations } from "../../src/domains/pets/pets.operations.ts";
import { PetStore } from "../../src/domains/pets/pets.store.ts";
import { TestService } from "./service.ts";
import { unchecked } from "./unchecked-pets.ts";

type PetHandlers = Handlers<typeof petOperations>;

/** Animals without their categories and orders. */
export function petsDomain(checks: Partial<PetChecks>, replaced: Partial<PetHandlers> = {}): Domain {
  return {
    name: "pets",
    operations: petOperations,
    eventTypes: [...petEventTypes, ...orderEventTypes],
    open: ({ storage, clock }) => {
      const pets = new PetStore(storage, { ...unchecked, clock, ...checks });
      return bind(petOperations, { ...petHandlers(pets), ...replaced });
    },
  };
}

/** A service whose getPet does what the test says. */
export const serviceWith = (getPet: PetHandlers["getPet"]) =>
  TestService.start({ domains: [...domains.slice(1), petsDomain({}, { getPet })] });
