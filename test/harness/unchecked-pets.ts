import type { PetChecks } from "../../src/domains/pets/pet-change.ts";
import { systemClock } from "../../src/timing/clock.ts";

/** Of animals that may be in any category, and have no orders. */
export const unchecked: PetChecks = { clock: systemClock, categoryExists: undefined, orderOf: undefined };
