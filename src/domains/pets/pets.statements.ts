import { folded } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { type Condition, type Page, readPage } from "../../storage/pages.ts";
import { lookUp, pageRead, type Row, type Statement, statement, type Values } from "../../storage/statement.ts";
import type { Transaction } from "../../storage/transaction.ts";
import { logNewPet } from "../events/publish.ts";
import { attachedMetadata, metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import { countAnimals } from "../shops/shops.statements.ts";
import type { ListFilters } from "./pets.operations.ts";
import type { Pet, PetStatus } from "./pets.schemas.ts";

/** An animal without its metadata. */
interface PlainRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
}
export interface PetRow extends PlainRow {
  metadata: string | null;
}
interface FlaggedRow extends PlainRow {
  has_metadata: bigint | null;
}
export interface IdRow extends Row {
  id: bigint;
}
export interface CountRow extends Row {
  animals: bigint;
}

type PageByStatus = [shop: number, status: PetStatus, after: bigint, limit: number];
type PageNear = [shop: number, status: PetStatus, after: bigint, end: bigint, limit: number];
type Key = [shop: number, id: bigint];
type Fields = [name: string, nameFolded: string | null, categoryId: bigint, status: PetStatus | null];

/** The statements of a page, without and with metadata. */
export interface PageReads<P extends Values> {
  readonly plain: Statement<P, FlaggedRow>;
  readonly whole: Statement<P, PetRow>;
}

export const petTables = [shopTable("pets", "id"), shopTable("category_animals", "category_id")];

const plainColumns = "id, name, category_id, status, has_metadata";
export const columns = `id, name, category_id, status, ${metadataColumn("pet", "pets")}`;

const withId = "FROM pets WHERE shop = $1 AND id = $2";
export const byId = lookUp<Key, PetRow>(`SELECT ${columns} ${withId}`);
export const plainById = lookUp<Key, FlaggedRow>(`SELECT ${plainColumns} ${withId}`);
// The rows of a page, without and with metadata. A page is read with metadata only if one of its animals has any: most
// have none.
const afterId = "FROM pets WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3";
export const rowsAfter = {
  plain: pageRead<[...Key, limit: number], FlaggedRow>(`SELECT ${plainColumns} ${afterId}`),
  whole: pageRead<[...Key, limit: number], PetRow>(`SELECT ${columns} ${afterId}`),
};
// The status is listed twice, so that only the index by status provides the order. See docs/decisions/postgresql.md.
const afterIdByStatus = "FROM pets WHERE shop = $1 AND status IN ($2, $2) AND id > $3 ORDER BY status, id LIMIT $4";
export const rowsAfterByStatus = {
  plain: pageRead<PageByStatus, FlaggedRow>(`SELECT ${plainColumns} ${afterIdByStatus}`),
  whole: pageRead<PageByStatus, PetRow>(`SELECT ${columns} ${afterIdByStatus}`),
};
// The animals with a status among nearby ids. `coalesce` keeps the planner from using the index by status.
const near = "FROM pets WHERE shop = $1 AND coalesce(status, '') = $2 AND id > $3 AND id <= $4 ORDER BY id LIMIT $5";
export const rowsNear = {
  plain: statement<PageNear, FlaggedRow>(`SELECT ${plainColumns} ${near}`),
  whole: statement<PageNear, PetRow>(`SELECT ${columns} ${near}`),
};
export const setStatus = statement<[status: PetStatus, ...Key]>(
  "UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3",
);
export const setFields = statement<[...Fields, hasMetadata: 1 | null, ...Key]>(
  `UPDATE pets SET name = $1, name_folded = $2, category_id = $3, status = $4, has_metadata = $5
   WHERE shop = $6 AND id = $7`,
);
export const insert = statement<[...Key, at: number | bigint, ...Fields, hasMetadata: 1 | null]>(
  `INSERT INTO pets (shop, id, added_at, name, name_folded, category_id, status, has_metadata)
   VALUES ($1, $2, $3, $4, $5, CAST($6 AS BIGINT), $7, CAST($8 AS BIGINT))`,
);
export const newPet = { count: countAnimals, insert, log: logNewPet };
export const lastId = statement<[shop: number], IdRow>("SELECT last_pet_id AS id FROM shops WHERE shop = $1");
export const setLastId = statement<[id: bigint, shop: number]>("UPDATE shops SET last_pet_id = $1 WHERE shop = $2");
export const remove = statement<Key>("DELETE FROM pets WHERE shop = $1 AND id = $2");
export const countByCategory = statement<[shop: number, categoryId: bigint], CountRow>(
  "SELECT animals FROM category_animals WHERE shop = $1 AND category_id = $2",
);
export const reassignCategory = statement<[to: bigint, shop: number, from: bigint]>(
  "UPDATE pets SET category_id = $1 WHERE shop = $2 AND category_id = $3",
);
/** `$1` is the number of animals that left the category. A trigger counts added animals. */
export const countFewer = statement<[animals: number | bigint, shop: number, categoryId: bigint]>(
  "UPDATE category_animals SET animals = animals - $1 WHERE shop = $2 AND category_id = $3",
);
export const countMore = statement<[shop: number, categoryId: bigint, animals: number | bigint]>(
  `INSERT INTO category_animals (shop, category_id, animals) VALUES ($1, $2, $3)
   ON CONFLICT (shop, category_id) DO UPDATE SET animals = category_animals.animals + excluded.animals`,
);
export const firstUnreferencedCategory = statement<[from: bigint, shop: number], IdRow>(`
  WITH RECURSIVE candidate (id) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT id + 1 FROM candidate
    WHERE EXISTS (SELECT 1 FROM category_animals WHERE shop = $2 AND category_id = candidate.id AND animals > 0)
  )
  SELECT max(id) AS id FROM candidate
`);

export function toPet(row: PlainRow & { metadata?: string | null }): Pet {
  const { id, name, category_id: categoryId, status, metadata } = row;
  const pet = status === null ? { id, name, categoryId } : { id, name, categoryId, status };
  return typeof metadata === "string" ? { ...pet, metadata: readMetadata(metadata) } : pet;
}

const attached = attachedMetadata("pet");

/** One page of a list with any filters: up to `limit` animals after `after`. */
export function readPets(
  shop: number,
  after: bigint | undefined,
  limit: number,
  { status, categoryId, ids, name, sort }: ListFilters,
): Transaction<Page<Pet>> {
  const page = { table: "pets", columns: ["name", "category_id", "status"], attached, shop, after, limit, sort };
  const ofStatus: Condition[] = status === undefined ? [] : [(bind) => `status = ${bind(status)}`];
  const ofCategory: Condition[] = categoryId === undefined ? [] : [(bind) => `category_id = ${bind(categoryId)}`];
  const ofName: Condition[] = name === undefined ? [] : [hasInName(name)];
  // A list of ids needs no scan.
  if (ids) return readPage({ ...page, bounds: [isOneOf(ids), ...ofStatus, ...ofCategory, ...ofName] }, toPet);
  // Without `lead`: names are stored in the order of ids, and the index by status would read them in another one.
  const scannedColumns = [...page.columns, "name_folded"];
  if (name !== undefined)
    return readPage({ ...page, scanned: [...ofStatus, ...ofCategory, ...ofName], scannedColumns }, toPet);
  // There is no index by category: see docs/decisions/pets-and-categories.md. The index by status has no names.
  const lead = status === undefined ? undefined : { column: "status", value: status };
  return readPage({ ...page, lead, scanned: ofCategory, scannedColumns: ["category_id", "status"] }, toPet);
}

/** True if the name contains the text. Letter case does not matter. */
function hasInName(text: string): Condition {
  const searched = "coalesce(name_folded, lower(name))";
  // The only search without wildcards that all engines support.
  return (bind) => `replace(${searched}, ${bind(folded(text))}, '') <> ${searched}`;
}

/** The list is padded with its last id to one of a few lengths, so that there are few statements. */
function isOneOf(ids: readonly bigint[]): Condition {
  const length = [1, 10, 100].find((one) => one >= ids.length) ?? ids.length;
  const padded = Array.from({ length }, (_, index) => ids[Math.min(index, ids.length - 1)] as bigint);
  return (bind) => `id IN (${padded.map((id) => bind(id)).join(", ")})`;
}
