import { foldedToStore } from "../../contract/schemas.ts";
import { inColumn, rowMapping } from "../../storage/row-mapping.ts";
import { derived, enumeration, integer, optional, type RowOf, table, text } from "../../storage/table.ts";
import { metadataField } from "../metadata/metadata.store.ts";
import { priceField } from "../shops/prices.ts";
import type { Pet } from "./pets.schemas.ts";

/**
 * `name_folded` is the name as searches compare it; null for a name in ASCII. `name_start` is what animals are searched
 * and sorted by. `pets_by_status` has the category after the id: new animals then go to the end of their status, and the
 * animals of a category are found without reading each row.
 */
export const petTable = table(
  "pets",
  {
    shop: integer,
    id: integer,
    name: text,
    category_id: integer,
    status: optional(enumeration("available", "pending", "sold")),
    amount: optional(integer),
    currency: optional(text),
    reference: optional(text),
    has_metadata: optional(integer),
    name_folded: optional(text),
    name_start: derived("substr(coalesce(name_folded, lower(name)), 1, 64)"),
    added_at: integer,
  },
  {
    key: ["shop", "id"],
    indices: {
      pets_by_status: { on: "shop, status, id, category_id" },
      pets_by_name: { on: "shop, name_start, id, status" },
      pets_by_reference: { on: "shop, reference", unique: true, where: "reference IS NOT NULL" },
      pets_by_category: { on: "shop, category_id", only: "postgres" },
    },
  },
);

export type PetRow = Omit<
  RowOf<typeof petTable>,
  "shop" | "has_metadata" | "name_folded" | "name_start" | "added_at"
> & {
  metadata: string | null;
};

/** How an animal is kept in its row. */
export const petFields = rowMapping<
  Omit<Pet, "id">,
  PetRow,
  Omit<RowOf<typeof petTable>, "shop" | "id" | "name_start" | "added_at">
>()("pets", {
  name: {
    write: { name: (name) => name },
    search: { name_folded: foldedToStore },
    read: ({ name }) => name,
  },
  categoryId: inColumn("category_id"),
  status: inColumn("status"),
  price: priceField,
  reference: inColumn("reference"),
  metadata: metadataField,
});
