import { folded } from "../../../../csv/name-key.ts";
import { RecentMap } from "../../../collections/recent-map.ts";
import type { ShopNumber } from "../../../contract/caller.ts";
import { INT64_MAX, INT64_MIN } from "../../../contract/schemas.ts";
import { type Condition, isOneOf, type Page, pageOf, readPage } from "../../../storage/pages.ts";
import { pageRead, type QueryStatement, query, type Values } from "../../../storage/statement.ts";
import type { ReadableStorage } from "../../../storage/storage.ts";
import { all, type Query } from "../../../storage/transaction.ts";
import { lasting } from "../../../storage/versions.ts";
import { attachedMetadata } from "../../metadata/metadata.store.ts";
import type { ListFilters } from "../pets.operations.ts";
import type { Pet, PetStatus } from "../pets.schemas.ts";
import { columns, toPet } from "../pets.statements.ts";
import { type PetRow, petFields, petTable } from "../pets.table.ts";

/**
 * A page by status of n animals is first searched for among the next `SPREAD` × n ids. In the time of one look-up through
 * the index by status, SQLite skips more animals than that, so a search that fails costs little. Without this search,
 * unread pages cost 1.2 times as much CPU if half of the animals have the status.
 */
const SPREAD = 3;
/** How many lists are remembered as scattered: their animals are too far apart for that search. */
const MAX_SCATTERED = 10_000;

type PageAfter = [shop: ShopNumber, after: bigint, limit: number];
type PageByStatus = [shop: ShopNumber, status: PetStatus, after: bigint, limit: number];
type PageNear = [shop: ShopNumber, status: PetStatus, after: bigint, end: bigint, limit: number];

const rowsAfter = pageRead<PageAfter, PetRow>(
  (value) => `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND id > ${value(2)} ORDER BY id LIMIT ${value(3)}`,
);
// The status is listed twice, so that only the index by status provides the order. See docs/decisions.md.
export const rowsAfterByStatus = pageRead<PageByStatus, PetRow>(
  (value) =>
    `SELECT ${columns} FROM pets WHERE shop = ${value(1)} AND status IN (${value(2)}, ${value(2)}) AND id > ${value(3)} ORDER BY status, id LIMIT ${value(4)}`,
);
// The animals with a status among nearby ids. `coalesce` keeps the planner from using the index by status.
export const rowsNear = query<PageNear, PetRow>(
  `SELECT ${columns} FROM pets
   WHERE shop = $1 AND coalesce(status, '') = $2 AND id > $3 AND id <= $4 ORDER BY id LIMIT $5`,
);

/** The filters of a list that is sorted by id. */
export interface FiltersById extends Omit<ListFilters, "search" | "sort"> {
  readonly sort?: "id" | "-id" | undefined;
}

/** Reads lists of animals by id, page by page. `next` of a page is the id after which the next one starts. */
export class PetPages {
  readonly #storage: ReadableStorage;
  /** The lists by status whose most recently read page was not found among nearby ids. */
  readonly #scattered = new RecentMap<string, true>(MAX_SCATTERED);

  constructor(storage: ReadableStorage) {
    this.#storage = storage;
  }

  /** Up to `limit` animals after `after`; if it is absent, from the start of the list. */
  *page(shop: ShopNumber, after: bigint | undefined, limit: number, filters: FiltersById = {}) {
    return lasting(yield* this.#page(shop, after, limit, filters), filters.sort ?? "id");
  }

  #page(shop: ShopNumber, after: bigint | undefined, limit: number, filters: FiltersById): Query<Page<Pet>> {
    const { status, categoryId, ids, name, sort } = filters;
    if (categoryId !== undefined || ids !== undefined || name !== undefined || sort === "-id") {
      return readPets(shop, after, limit, filters);
    }
    return status === undefined
      ? this.#read(rowsAfter, [shop, after ?? INT64_MIN, limit + 1], limit)
      : this.#readByStatus(shop, after, limit, status);
  }

  /**
   * First looks among the next ids, which is faster if many animals have the status. If too few have it, reads by the
   * index, and remembers the list as scattered. A scattered list is read by the index until one of its pages spans
   * fewer than `SPREAD` × n ids.
   */
  *#readByStatus(shop: ShopNumber, after: bigint | undefined, limit: number, status: PetStatus): Query<Page<Pet>> {
    const byIndex = () => this.#read(rowsAfterByStatus, [shop, status, after ?? INT64_MIN, limit + 1], limit);
    if (after === undefined || !this.#storage.readsSynchronously) return yield* byIndex();
    const list = `${shop} ${status}`;
    const span = BigInt(SPREAD * (limit + 1));
    if (!this.#scattered.get(list)) {
      const end = after < INT64_MAX - span ? after + span : INT64_MAX;
      const near = yield* this.#read(rowsNear, [shop, status, after, end, limit + 1], limit);
      if (near.next !== undefined) return near;
    }
    const page = yield* byIndex();
    if (page.next !== undefined && page.next - after < span) this.#scattered.delete(list);
    else this.#scattered.set(list, true);
    return page;
  }

  *#read<P extends Values>(rows: QueryStatement<P, PetRow>, parameters: NoInfer<P>, limit: number): Query<Page<Pet>> {
    return pageOf(yield* all(rows, ...parameters), limit, toPet, ({ id }) => id);
  }
}

export const attached = attachedMetadata("pet");

/** One page of a list with any filters: up to `limit` animals after `after`. */
export function readPets(
  shop: ShopNumber,
  after: bigint | undefined,
  limit: number,
  { status, categoryId, ids, name, sort }: FiltersById,
): Query<Page<Pet>> {
  const page = { table: petTable, columns: petFields.readColumns, attached, shop, after, limit, sort };
  const scanned = conditionsOf({ status, categoryId, name });
  // A list of ids needs no scan.
  if (ids) return readPage({ ...page, bounds: [isOneOf(ids), ...scanned] }, toPet);
  // Without `lead`: names are stored in the order of ids, and the index by status would read them in another one.
  const scannedColumns = ["name", "category_id", "status", "name_folded"] as const;
  if (name !== undefined) return readPage({ ...page, scanned, scannedColumns }, toPet);
  // The index by status has the categories, but no names. Only PostgreSQL has one by category, for the moves of animals.
  const lead = status === undefined ? undefined : { column: "status" as const, values: [status] };
  const ofCategory = conditionsOf({ categoryId });
  return readPage({ ...page, lead, scanned: ofCategory, scannedColumns: ["category_id", "status"] }, toPet);
}

type Conditions = { readonly [F in "status" | "categoryId" | "name"]?: ListFilters[F] | undefined };

/** The conditions on an animal itself, of which the name must contain a text. */
export function conditionsOf({ status, categoryId, name }: Conditions) {
  const conditions: Condition[] = [];
  if (status !== undefined) conditions.push((bind) => `status = ${bind(status)}`);
  if (categoryId !== undefined) conditions.push((bind) => `category_id = ${bind(categoryId)}`);
  if (name !== undefined) conditions.push(hasInName(name));
  return conditions;
}

/** True if the name contains the text. Letter case does not matter. */
function hasInName(text: string): Condition {
  const searched = "coalesce(name_folded, lower(name))";
  // The only search without wildcards that all engines support.
  return (bind) => `replace(${searched}, ${bind(folded(text))}, '') <> ${searched}`;
}
