import { type Static, type TSchema, Type } from "typebox";
import { Choice, described, Int64, LargeCount, notBlank, removable, Text } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";
import { NewPrice, Price, PricePatch } from "../shops/price.schemas.ts";

export const PetStatus = Choice(["available", "pending", "sold"], {
  title: "PetStatus",
  description: "Availability status of an animal.",
});
export type PetStatus = Static<typeof PetStatus>;

export const name = Text({ description: "The animal's name.", minLength: 1, maxLength: 255, examples: ["Rex"] });
const categoryId = Int64({ description: "Identifier of the category the animal belongs to.", examples: [1n] });
const status = Type.Optional(PetStatus);
const reference = Text({
  description:
    "Your own number for the animal, such as that of its chip, ring or label. Unique within the shop, in exactly this form.",
  minLength: 1,
  maxLength: 64,
  examples: ["276098102345678"],
});
const newReference = notBlank(reference);
const what = "What is asked for the animal.";
/** The fields of an animal that a shop sets. The compiler asks for each of them wherever an animal is sent or stored. */
const petProperties = {
  name,
  categoryId,
  status,
  price: Type.Optional(described(Price, what)),
  reference: Type.Optional(reference),
  metadata,
};
type SameFields = Readonly<Record<keyof typeof petProperties, TSchema>>;

export const NewPet = Type.Object(
  {
    name,
    categoryId,
    status,
    price: Type.Optional(described(NewPrice, what)),
    reference: Type.Optional(newReference),
    metadata: newMetadata,
  } satisfies SameFields,
  { title: "NewPet", description: "An animal to add.", additionalProperties: false },
);
export type NewPet = Static<typeof NewPet>;

export const Pet = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service on creation.", examples: [7n] }),
    ...petProperties,
  },
  { title: "Pet", description: "An animal of the shop." },
);
export type Pet = Static<typeof Pet>;
/** An animal as its event is stored before it has an id. */
export const PetWithoutId = Type.Omit(Pet, ["id"]);

export const PetPatch = Type.Object(
  {
    name: Type.Optional(name),
    categoryId: Type.Optional(categoryId),
    status,
    price: Type.Optional(PricePatch),
    reference: removable(newReference, "The reference from now on; `null` removes it."),
    metadata: metadataPatch,
  } satisfies SameFields,
  {
    title: "PetPatch",
    description: "The fields of an animal to change (JSON Merge Patch, RFC 7396).",
    additionalProperties: false,
  },
);
export type PetPatch = Static<typeof PetPatch>;

export const Reassignment = Type.Object(
  {
    from: Int64({ description: "The category that the animals left." }),
    to: Int64({ description: "The category that they belong to now." }),
    animals: LargeCount({ description: "How many animals were moved." }),
    firstPetId: Int64({
      description: "The first of them: all animals of `from` from this one to the last are in `to` now.",
    }),
    lastPetId: Int64({ description: "The last of them." }),
  },
  { title: "Reassignment", description: "A move of animals from a category to another." },
);
export type Reassignment = Static<typeof Reassignment>;

export const Pets = Type.Array(Pet, {
  title: "Pets",
  description: "Animals, sorted by `id` unless `sort` or `search` is sent.",
});
