import { foldedToStore } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { change, type IdRow, lookUp, query, type Row } from "../../storage/statement.ts";
import { logNewPet } from "../events/publish.ts";
import { metadataColumn, metadataFlag, readMetadata } from "../metadata/metadata.store.ts";
import { type PriceColumns, type PriceValues, priceValues, readPrice } from "../shops/prices.ts";
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
/** The values of an animal's columns besides its key: see `valuesOf`. */
type Fields = [
  name: string,
  nameFolded: string | null,
  categoryId: bigint,
  status: PetStatus | null,
  ...price: PriceValues,
  reference: string | null,
  hasMetadata: 1 | null,
];

export const petTables = [shopTable("pets", "id"), shopTable("category_animals", "category_id")];

/** The columns of an animal besides `id` and its metadata. */
export const listed = ["name", "category_id", "status", "amount", "currency", "reference"];
export const columns = `id, ${listed.join(", ")}, ${metadataColumn("pet", "pets")}`;

export const byId = lookUp<Key, PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 AND id = $2`);
export const byReference = lookUp<[shop: number, reference: string], PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = $1 AND reference = $2`,
);
export const setStatus = change<[status: PetStatus, ...Key]>("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const setFields = change<[...Fields, ...Key]>(
  `UPDATE pets SET name = $1, name_folded = $2, category_id = $3, status = $4, amount = $5, currency = $6, reference = $7,
     has_metadata = $8
   WHERE shop = $9 AND id = $10`,
);
export const insert = change<[...Key, at: number | bigint, ...Fields]>(
  `INSERT INTO pets (shop, id, added_at, name, name_folded, category_id, status, amount, currency, reference, has_metadata)
   VALUES ($1, $2, $3, $4, $5, CAST($6 AS BIGINT), $7, CAST($8 AS BIGINT), $9, $10, CAST($11 AS BIGINT))`,
);
export const newPetRow = { count: countAnimals, insert, log: logNewPet };
export const lastId = query<[shop: number], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = change<[id: bigint, shop: number]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = change<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");

export function valuesOf({ name, categoryId, status, price, reference, metadata }: Omit<Pet, "id">): Fields {
  const [amount, currency] = priceValues(price);
  const flag = metadataFlag(metadata);
  return [name, foldedToStore(name), categoryId, status ?? null, amount, currency, reference ?? null, flag];
}

export function toPet(row: PetRow): Pet {
  const { id, name, category_id: categoryId, status, amount, reference, metadata } = row;
  const pet: Pet = status === null ? { id, name, categoryId } : { id, name, categoryId, status };
  if (amount !== null) pet.price = readPrice(row);
  if (reference !== null) pet.reference = reference;
  if (metadata !== null) pet.metadata = readMetadata(metadata);
  return pet;
}
