import type { ShopNumber } from "../../contract/caller.ts";
import { change, type IdRow, lookUp, query } from "../../storage/statement.ts";
import { insertInto } from "../../storage/table.ts";
import { eventTable } from "../events/events.table.ts";
import { metadataColumn } from "../metadata/metadata.store.ts";
import { countInCategory } from "./counts/category-animals.store.ts";
import { countAnimals } from "./counts/pets-in-shop.store.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";
import { type PetRow, petFields, petTable } from "./pets.table.ts";

type Key = [shop: ShopNumber, id: bigint];

export const columns = `id, ${petFields.readColumns.join(", ")}, ${metadataColumn("pet", "pets")}`;

export const byId = lookUp<Key, PetRow>(
  (value) => `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND id = ${value(2)}`,
);
export const byReference = lookUp<[shop: ShopNumber, reference: string], PetRow>(
  (value) => `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND reference = ${value(2)}`,
);
export const setStatus = change<[status: PetStatus, ...Key]>("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const insert = insertInto(petTable, ["shop", "id", "added_at", ...petFields.columns]);
/** The event of a new animal. The last value is the JSON of the animal without its id and the first brace. */
const log = insertInto(eventTable, ["shop", "under", "at", "id", "type", "actor", "request_id", "data"], {
  computed: { data: (value) => `'{"id":' || ${value(2, "INTEGER")} || ',' || ${value(8, "TEXT")}` },
});
export const newPetRow = { count: countAnimals, insert, log, countGroup: countInCategory };
export const lastId = query<[shop: ShopNumber], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = change<[id: bigint, shop: ShopNumber]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = change<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");

export function toPet(row: PetRow): Pet {
  return petFields.read(row, { id: row.id });
}
