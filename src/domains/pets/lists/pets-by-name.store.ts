import { folded, foldedStart } from "../../../../csv/name-key.ts";
import type { ShopNumber } from "../../../contract/caller.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../../contract/schemas.ts";
import { type Condition, type Page, pageOf, readPage } from "../../../storage/pages.ts";
import { prefixBounds } from "../../../storage/prefix.ts";
import { pageRead, type SqlFor } from "../../../storage/statement.ts";
import type { RowOf } from "../../../storage/table.ts";
import { all, first, type Query } from "../../../storage/transaction.ts";
import { type ListFilters, MAX_SEARCH } from "../pets.operations.ts";
import type { Pet } from "../pets.schemas.ts";
import { byId, byReference, columns, toPet } from "../pets.statements.ts";
import { type PetRow, petFields, petTable } from "../pets.table.ts";
import { attached, conditionsOf } from "./pets-by-id.store.ts";

/** How many animals a page scans for a condition that the index by name does not tell: they are read at random. */
const SCATTERED_SCAN = 1_000;

type NamedRow = PetRow & {
  name_start: string;
};
type FoundRow = NamedRow & {
  /** 1 for an exact hit. */
  is_hit: bigint;
};
/** `bound` is the last start of a name. Animals with `hit` as id or with `reference` are left out. */
type PageByName = [
  shop: ShopNumber,
  start: string,
  id: bigint,
  bound: string,
  hit: bigint,
  reference: string,
  limit: number,
];

// Those of a list without other filters, which requests of one turn share on PostgreSQL.
const pageIn = (beyond: ">" | "<", direction: "" | " DESC"): SqlFor => {
  return (value) => `SELECT ${columns}, name_start, CAST(0 AS BIGINT) AS is_hit FROM pets
   WHERE shop = ${value(1)} AND (name_start, id) ${beyond} (${value(2)}, ${value(3)})
     AND ${value(4)} ${beyond}= name_start AND id <> ${value(5)} AND (reference IS NULL OR reference <> ${value(6)})
   ORDER BY name_start${direction}, id${direction} LIMIT ${value(7)}`;
};
const [pageAfter, pageBefore] = [pageIn(">", ""), pageIn("<", " DESC")];
// With the exact hits of the search first, which saves the requests to the server for them.
const withHits = (others: SqlFor) =>
  pageRead<PageByName, FoundRow>(
    (value) =>
      `SELECT ${columns}, name_start, CAST(1 AS BIGINT) AS is_hit FROM pets WHERE shop = ${value(1)} AND id = ${value(5)}
     UNION ALL SELECT ${columns}, name_start, CAST(1 AS BIGINT) AS is_hit FROM pets WHERE shop = ${value(1)} AND reference = ${value(6)} AND id <> ${value(5)}
     UNION ALL SELECT * FROM (${others(value)}) AS others`,
  );
const [rowsAfter, rowsBefore] = [pageRead<PageByName, FoundRow>(pageAfter), pageRead<PageByName, FoundRow>(pageBefore)];
const [searchAfter, searchBefore] = [withHits(pageAfter), withHits(pageBefore)];

/** What is wrong with the combination of filters of a list by name. */
export function faultOfListByName({ search, sort, ids }: ListFilters) {
  if (search && (sort === "id" || sort === "-id"))
    return { path: "/query/sort", message: "must be name or -name with search, which sorts by name" };
  return ids && { path: "/query/ids", message: "cannot be combined with search, or with a list by name" };
}

/**
 * One page of a list by name. The position of an animal is the start of its name with its id, or its number among the
 * exact hits of a search, which come before all others: it stays right if the animal is renamed or deleted.
 */
export function* petsByName(
  shop: ShopNumber,
  after: string | undefined,
  limit: number,
  filters: ListFilters,
): Query<Page<Pet, string>> {
  const [, shown, start, id] = /^(?:#(\d)|([^]*) (-?\d+))$/.exec(after ?? "#0") ?? [];
  const position = start === undefined ? undefined : { start, id: BigInt(id as string) };
  const { status, categoryId, name } = filters;
  const isFiltered = status !== undefined || categoryId !== undefined || name !== undefined;
  const { hits, rest } = yield* isFiltered
    ? readFiltered(shop, position, limit, filters)
    : readUnfiltered(shop, position, limit, filters);
  const exact = position ? [] : hits.slice(Number(shown));
  const items = [...exact, ...rest.items].slice(0, limit);
  const positionAt = (place: number) =>
    place < exact.length ? `#${Number(shown) + place + 1}` : rest.positionAt(place - exact.length);
  const next = exact.length + rest.items.length > limit ? positionAt(limit - 1) : rest.next;
  return { items, positionAt, ...(next !== undefined && { next }) };
}

/** The animals that have the text of a search as their id or reference, and fit the other filters. */
function* exactHits(shop: ShopNumber, { search, status, categoryId, name }: ListFilters): Query<readonly Pet[]> {
  if (!search) return [];
  const id = parseInt64(search);
  // One after the other, because requests of one turn share look-ups on PostgreSQL.
  const rows = [id === undefined ? undefined : yield* first(byId, shop, id), yield* first(byReference, shop, search)];
  const pets = new Map(rows.flatMap((row) => (row ? [[row.id, toPet(row)]] : [])));
  return [...pets.values()].filter(
    (pet) =>
      (status === undefined || pet.status === status) &&
      (categoryId === undefined || pet.categoryId === categoryId) &&
      (name === undefined || folded(pet.name).includes(folded(name))),
  );
}

/** The start of a name, and an id. */
interface Position {
  readonly start: string;
  readonly id: bigint;
}

/** Where a list begins, and the start of a name at its end. */
function ends({ search, sort }: ListFilters): Position & { readonly bound: string; readonly isDescending: boolean } {
  const isDescending = sort === "-name";
  const [lowest, highest] = prefixBounds(foldedStart(search ?? "", MAX_SEARCH), MAX_SEARCH);
  return isDescending
    ? { start: highest, id: INT64_MAX, bound: lowest, isDescending }
    : { start: lowest, id: INT64_MIN, bound: highest, isDescending };
}

/** The exact hits of a search, and a page of the other animals. */
function* readUnfiltered(shop: ShopNumber, position: Position | undefined, limit: number, filters: ListFilters) {
  const { bound, isDescending, ...beginning } = ends(filters);
  const { start, id } = position ?? beginning;
  const { search } = filters;
  const [up, down] = search === undefined || position ? [rowsAfter, rowsBefore] : [searchAfter, searchBefore];
  // No animal has this id, or an empty reference.
  const hit = parseInt64(search ?? "") ?? INT64_MIN;
  const rows = yield* all(isDescending ? down : up, shop, start, id, bound, hit, search ?? "", limit + 1);
  const hits = rows.filter((row) => row.is_hit === 1n);
  return { hits: hits.map(toPet), rest: pageOf(rows.slice(hits.length), limit, toPet, positionOf) };
}

/** The same with other filters. */
function* readFiltered(shop: ShopNumber, position: Position | undefined, limit: number, filters: ListFilters) {
  const hits = yield* exactHits(shop, filters);
  const { categoryId, name } = filters;
  const { bound, isDescending, ...beginning } = ends(filters);
  const { start, id } = position ?? beginning;
  const bounds: Condition[] = [
    (bind) => `name_start ${isDescending ? ">=" : "<="} ${bind(bound)}`,
    ...hits.map(
      (hit): Condition =>
        (bind) =>
          `id <> ${bind(hit.id)}`,
    ),
  ];
  const others = [
    ...(categoryId === undefined ? [] : (["category_id"] as const)),
    ...(name === undefined ? [] : (["name", "name_folded"] as const)),
  ];
  const rest = yield* readPage(
    {
      table: petTable,
      columns: [...petFields.readColumns, "name_start"],
      attached,
      shop,
      after: id,
      limit,
      sort: isDescending ? "-id" : "id",
      by: "name_start",
      afterBy: start,
      bounds,
      scanned: conditionsOf(filters),
      scannedColumns: ["name_start", "status", ...others],
      ...(others.length > 0 && { scanLimit: SCATTERED_SCAN }),
    },
    toPet,
    positionOf,
  );
  return { hits, rest };
}

function positionOf({ name_start: start, id }: Pick<RowOf<typeof petTable>, "name_start" | "id">): string {
  return `${start} ${id}`;
}
