import { shopTable } from "../../storage/owned-table.ts";
import { change, type IdRow, lookUp, query, type Row } from "../../storage/statement.ts";
import { logNewPet } from "../events/publish.ts";
import { metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import { countAnimals } from "../shops/shops.statements.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";

export interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
  metadata: string | null;
}
type Key = [shop: number, id: bigint];
type Fields = [name: string, nameFolded: string | null, categoryId: bigint, status: PetStatus | null];

export const petTables = [shopTable("pets", "id"), shopTable("category_animals", "category_id")];

export const columns = `id, name, category_id, status, ${metadataColumn("pet", "pets")}`;

export const byId = lookUp<Key, PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 AND id = $2`);
export const setStatus = change<[status: PetStatus, ...Key]>("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const setFields = change<[...Fields, hasMetadata: 1 | null, ...Key]>(
  `UPDATE pets SET name = $1, name_folded = $2, category_id = $3, status = $4, has_metadata = $5
   WHERE shop = $6 AND id = $7`,
);
export const insert = change<[...Key, at: number | bigint, ...Fields, hasMetadata: 1 | null]>(
  `INSERT INTO pets (shop, id, added_at, name, name_folded, category_id, status, has_metadata)
   VALUES ($1, $2, $3, $4, $5, CAST($6 AS BIGINT), $7, CAST($8 AS BIGINT))`,
);
export const newPet = { count: countAnimals, insert, log: logNewPet };
export const lastId = query<[shop: number], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = change<[id: bigint, shop: number]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = change<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");

export function toPet(row: PetRow): Pet {
  const { id, name, category_id: categoryId, status, metadata } = row;
  const pet = status === null ? { id, name, categoryId } : { id, name, categoryId, status };
  return metadata === null ? pet : { ...pet, metadata: readMetadata(metadata) };
}
