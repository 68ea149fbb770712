import { foldedToStore } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { RowMapping } from "../../storage/row-mapping.ts";
import { change, type IdRow, lookUp, query, type Row, type SqlValue } from "../../storage/statement.ts";
import { metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import { type PriceColumns, priceValues, readPrice } from "../shops/prices.ts";
import { countAnimals } from "../shops/shops.statements.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";

export interface PetRow extends Row, PriceColumns {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
  amount: bigint | null;
  currency: string | null;
  reference: string | null;
  metadata: string | null;
}
type Key = [shop: number, id: bigint];
/** The values of an animal's columns besides its key: see `RowMapping`. */
type Values = readonly SqlValue[];

export const petTables = [shopTable("pets", "id"), shopTable("category_animals", "category_id")];

/** How an animal is kept in its row. */
export const petFields = new RowMapping<Omit<Pet, "id">, PetRow>({
  name: {
    columns: { name: "TEXT", name_folded: "TEXT" },
    write: (name) => [name, foldedToStore(name)],
    read: ({ name }) => name,
  },
  categoryId: { columns: { category_id: "BIGINT" }, write: (id) => [id], read: ({ category_id: id }) => id },
  status: {
    columns: { status: "TEXT" },
    write: (status) => [status ?? null],
    read: ({ status }) => status ?? undefined,
  },
  price: {
    columns: { amount: "BIGINT", currency: "TEXT" },
    write: priceValues,
    read: (row) => (row.amount === null ? undefined : readPrice(row)),
  },
  reference: {
    columns: { reference: "TEXT" },
    write: (reference) => [reference ?? null],
    read: ({ reference }) => reference ?? undefined,
  },
  metadata: {
    columns: { has_metadata: "BIGINT" },
    write: (pairs) => [pairs ? 1n : null],
    read: ({ metadata }) => (metadata === null ? undefined : readMetadata(metadata)),
  },
});

/** The columns of an animal that are read, besides `id` and its metadata. */
export const listed = petFields.columns.filter((column) => !["name_folded", "has_metadata"].includes(column));
export const columns = `id, ${listed.join(", ")}, ${metadataColumn("pet", "pets")}`;

export const byId = lookUp<Key, PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 AND id = $2`);
export const byReference = lookUp<[shop: number, reference: string], PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = $1 AND reference = $2`,
);
export const setStatus = change<[status: PetStatus, ...Key]>("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const setFields = change<[...Key, ...Values]>(
  `UPDATE pets SET ${petFields.assignments(3)} WHERE shop = $1 AND id = $2`,
);
export const insert = change<[...Key, at: number | bigint, ...Values]>(
  `INSERT INTO pets (shop, id, added_at, ${petFields.columns.join(", ")}) VALUES ($1, $2, $3, ${petFields.parameters(4)})`,
);
const logNewPet = change<[shop: number, id: bigint, at: number | bigint, eventId: bigint, ...NewPetEvent]>(
  `INSERT INTO events (shop, under, at, id, type, actor, request_id, data)
   VALUES ($1, $2, $3, $4, $5, $6, $7, '{"id":' || $2 || $8)`,
);
type NewPetEvent = [type: string, actor: string, requestId: string | null, dataAfterId: string];
export const newPetRow = { count: countAnimals, insert, log: logNewPet };
export const lastId = query<[shop: number], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = change<[id: bigint, shop: number]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = change<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");

export function toPet(row: PetRow): Pet {
  return petFields.read(row, { id: row.id });
}
