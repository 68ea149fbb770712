import type { TSchema } from "typebox";
import type { Fault } from "../../../contract/errors.ts";
import { faultsOf } from "../../../contract/input-faults.ts";
import { compileDecoder, compileValidator } from "../../../contract/validators.ts";
import { completePet, type DecidingOrder, patchedPet, unknownCategory, usedBy } from "../pet-change.ts";
import { NewPet, type Pet } from "../pets.schemas.ts";
import type { onExistingRules } from "./several-pets.operations.ts";

/** An animal to add, with the id that it keeps if it has one. */
export type ImportedPet = NewPet & { readonly id?: bigint };

/** Reads one of several animals. Returns the faults of one that is not valid. */
export type PetReader = (value: unknown) => ImportedPet | readonly Fault[];

/** Compiles the reader of animals that requests and files bring. `schema` has the fields of `NewPet`, and perhaps an id. */
export function compilePetReader(schema: TSchema = NewPet): PetReader {
  const validator = compileValidator(schema);
  const decode = compileDecoder(schema) ?? ((value: unknown) => value);
  return (value) =>
    validator.Check(value) ? (decode(value) as ImportedPet) : faultsOf(value, schema, "", "field of an animal");
}

export function isFaulty(read: ImportedPet | readonly Fault[]): read is readonly Fault[] {
  return Array.isArray(read);
}

/** Why one of several animals cannot be added: its place among them, the field, and what is wrong. */
export interface PetFault extends Fault {
  readonly index: number;
}

/** What to do with an animal whose reference another one has. */
export type OnExisting = (typeof onExistingRules)[number];

/** An animal as it is before the import, unless it is new, and as it will be. */
export interface Draft {
  readonly before?: Pet;
  after: Pet;
}

export type PetOutcome = "created" | "updated" | "skipped";

interface Planned {
  readonly draft: Draft;
  readonly outcome: PetOutcome;
}

/** What a plan must know of the shop. */
export interface ImportState {
  readonly onExisting: OnExisting;
  /** The currency of prices without one. */
  readonly currency: string | undefined;
  /** The categories of the animals that do not exist, if they must. */
  readonly unknownCategories: ReadonlySet<bigint>;
  /** Animals by reference: at first those of the shop, then also those that the import adds. */
  readonly byReference: Map<string, Draft>;
  /** The orders that decide the status of animals, by the ids of these. */
  readonly orders: ReadonlyMap<bigint, DecidingOrder>;
  /** The last id that the shop has assigned. */
  lastId: bigint;
}

/** Decides what becomes of each of several animals, in this order: each sees what those before it have changed. */
export function planImport(state: ImportState, pets: readonly ImportedPet[]) {
  const planned: (Planned & { readonly index: number })[] = [];
  const faults: PetFault[] = [];
  for (const [index, pet] of pets.entries()) {
    const known = pet.reference === undefined ? undefined : state.byReference.get(pet.reference);
    const result = known ? planExisting(state, known, pet) : planNew(state, pet);
    if ("draft" in result) planned.push({ index, ...result });
    else for (const fault of result) faults.push({ index, ...fault });
  }
  return { planned, faults };
}

function planNew(state: ImportState, { id, ...given }: ImportedPet): Planned | Fault[] {
  const faults: Fault[] = [];
  if (state.unknownCategories.has(given.categoryId)) faults.push(unknownCategory);
  if (id !== undefined && id <= state.lastId) {
    faults.push({ path: "/id", message: `${id} is not above ${state.lastId}, the last id that the shop has assigned` });
  } else if (id !== undefined) state.lastId = id;
  const pet = completePet(given, state.currency);
  if ("message" in pet) return [...faults, pet];
  if (faults.length > 0) return faults;
  if (id === undefined) state.lastId++;
  const after = { id: state.lastId, ...pet };
  const draft: Draft = { after };
  if (after.reference !== undefined) state.byReference.set(after.reference, draft);
  return { draft, outcome: "created" };
}

function planExisting(state: ImportState, draft: Draft, { id, ...given }: ImportedPet): Planned | Fault[] {
  const { onExisting, currency, unknownCategories, orders } = state;
  const { after: current } = draft;
  if (onExisting === "refuse") {
    return [{ path: "/reference", message: draft.before ? usedBy(current) : "is also that of an animal before it" }];
  }
  if (id !== undefined && id !== current.id) {
    return [{ path: "/id", message: `must be ${current.id}, the id of the animal with this reference` }];
  }
  if (onExisting === "skip") return { draft, outcome: "skipped" };
  const after = patchedPet(current, given, currency);
  if ("message" in after) return [after];
  if (after.categoryId !== current.categoryId && unknownCategories.has(after.categoryId)) return [unknownCategory];
  const order = after.status === current.status ? undefined : orders.get(current.id);
  if (order) {
    const message = `cannot be changed: the order ${order.id} ${order.isOpen ? "reserves" : "has sold"} the animal`;
    return [{ path: "/status", message }];
  }
  draft.after = after;
  return { draft, outcome: "updated" };
}
