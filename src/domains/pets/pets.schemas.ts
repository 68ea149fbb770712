import { type Static, Type } from "typebox";
import { Choice, Int64, LargeCount, Text } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";

export const PetStatus = Choice(["available", "pending", "sold"], {
  title: "PetStatus",
  description: "Availability status of an animal.",
});
export type PetStatus = Static<typeof PetStatus>;

export const name = Text({ description: "The animal's name.", minLength: 1, maxLength: 255, examples: ["Rex"] });
const categoryId = Int64({ description: "Identifier of the category the animal belongs to.", examples: [1n] });
const status = Type.Optional(PetStatus);
const newPetProperties = { name, categoryId, status };

export const NewPet = Type.Object(
  { ...newPetProperties, metadata: newMetadata },
  { title: "NewPet", description: "An animal to add.", additionalProperties: false },
);
export type NewPet = Static<typeof NewPet>;
export const PlainNewPet = Type.Omit(NewPet, ["metadata"]);

export const Pet = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service on creation.", examples: [7n] }),
    ...newPetProperties,
    metadata,
  },
  { title: "Pet", description: "An animal of the shop." },
);
export type Pet = Static<typeof Pet>;

export const PetPatch = Type.Object(
  { name: Type.Optional(name), categoryId: Type.Optional(categoryId), status, metadata: metadataPatch },
  {
    title: "PetPatch",
    description: "The fields of an animal to change (JSON Merge Patch, RFC 7396). Only metadata can be removed.",
    additionalProperties: false,
  },
);
export type PetPatch = Static<typeof PetPatch>;

export const Reassignment = Type.Object(
  {
    from: Int64({ description: "The category that the animals left." }),
    to: Int64({ description: "The category that they belong to now." }),
    animals: LargeCount({ description: "How many animals were moved." }),
  },
  { title: "Reassignment", description: "A move of all animals of a category to another." },
);
export type Reassignment = Static<typeof Reassignment>;

export const Pets = Type.Array(Pet, { title: "Pets", description: "Animals, sorted by `id`." });
