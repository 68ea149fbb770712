import type { TSchema } from "typebox";
import type { Fault } from "../../../contract/errors.ts";
import { faultsOf } from "../../../contract/input-faults.ts";
import { compileDecoder, compileValidator } from "../../../contract/validators.ts";
import { NewPet } from "../pets.schemas.ts";
import type { ImportedPet } from "./pet-import-plan.ts";

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
