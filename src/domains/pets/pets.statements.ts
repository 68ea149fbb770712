import { foldedToStore } from "../../contract/schemas.ts";
import { inColumn, RowMapping } from "../../storage/row-mapping.ts";
import { change, type IdRow, lookUp, query, type SqlValue } from "../../storage/statement.ts";
import {
  type ColumnOf,
  derived,
  insertInto,
  integer,
  oneOf,
  optional,
  type RowOf,
  table,
  text,
} from "../../storage/table.ts";
import { eventTable } from "../events/events.table.ts";
import { metadataColumn, metadataField } from "../metadata/metadata.store.ts";
import { priceField } from "../shops/prices.ts";
import { countInCategory } from "./counts/category-animals.store.ts";
import { countAnimals } from "./counts/pets-in-shop.store.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";

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
    status: optional(oneOf("available", "pending", "sold")),
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
type Key = [shop: number, id: bigint];
/** The values of an animal's columns besides its key: see `RowMapping`. */
type Values = readonly SqlValue[];

/** How an animal is kept in its row. */
export const petFields = new RowMapping<
  Omit<Pet, "id">,
  PetRow,
  Exclude<ColumnOf<typeof petTable>, "shop" | "id" | "added_at">
>({
  name: {
    columns: ["name", "name_folded"],
    write: (name) => [name, foldedToStore(name)],
    read: ({ name }) => name,
  },
  categoryId: inColumn("category_id"),
  status: inColumn("status"),
  price: priceField,
  reference: inColumn("reference"),
  metadata: metadataField,
});

/** The columns of an animal that are read, besides `id` and its metadata. */
export const listed = petFields.columns.filter((column) => !["name_folded", "has_metadata"].includes(column));
export const columns = `id, ${listed.join(", ")}, ${metadataColumn("pet", "pets")}`;

export const byId = lookUp<Key, PetRow>(
  (value) => `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND id = ${value(2)}`,
);
export const byReference = lookUp<[shop: number, reference: string], PetRow>(
  (value) => `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND reference = ${value(2)}`,
);
export const setStatus = change<[status: PetStatus, ...Key]>("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const setFields = change<[...Key, ...Values]>(
  `UPDATE pets SET ${petFields.assignments(3)} WHERE shop = $1 AND id = $2`,
);
export const insert = insertInto(petTable, ["shop", "id", "added_at", ...petFields.columns]);
/** The event of a new animal. The last value is the JSON of the animal without its id and the first brace. */
const log = insertInto(eventTable, ["shop", "under", "at", "id", "type", "actor", "request_id", "data"], {
  made: { data: (value) => `'{"id":' || ${value(2, "INTEGER")} || ',' || ${value(8, "TEXT")}` },
});
export const newPetRow = { count: countAnimals, insert, log, countGroup: countInCategory };
export const lastId = query<[shop: number], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = change<[id: bigint, shop: number]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = change<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");

export function toPet(row: PetRow): Pet {
  return petFields.read(row, { id: row.id });
}
