import { folded, foldedStart } from "../../../csv/name-key.ts";
import { INT64_MAX, INT64_MIN, parseInt64 } from "../../contract/schemas.ts";
import { type Condition, type Page, pageOf, readPage } from "../../storage/pages.ts";
import { prefixBounds } from "../../storage/prefix.ts";
import { pageRead } from "../../storage/statement.ts";
import { all, first, type Query } from "../../storage/transaction.ts";
import { attached, hasInName } from "./pet-pages.store.ts";
import { type ListFilters, MAX_SEARCH } from "./pets.operations.ts";
import type { Pet } from "./pets.schemas.ts";
import { byId, byReference, columns, listed, type PetRow, toPet } from "./pets.statements.ts";

/** How many animals a page scans for a condition that the index by name does not tell: they are read at random. */
const SCATTERED_SCAN = 1_000;

interface NamedRow extends PetRow {
  name_start: string;
}
/** `bound` is the last start of a name, and `hit` and `other` are animals to leave out. */
type PageByName = [shop: number, start: string, id: bigint, bound: string, hit: bigint, other: bigint, limit: number];

// Those of a list without other filters, which requests of one turn share on PostgreSQL.
const rowsAfter = pageRead<PageByName, NamedRow>(
  `SELECT ${columns}, name_start FROM pets
   WHERE shop = $1 AND (name_start, id) > ($2, $3) AND name_start <= $4 AND id <> $5 AND id <> $6
   ORDER BY name_start, id LIMIT $7`,
);
const rowsBefore = pageRead<PageByName, NamedRow>(
  `SELECT ${columns}, name_start FROM pets
   WHERE shop = $1 AND (name_start, id) < ($2, $3) AND name_start >= $4 AND id <> $5 AND id <> $6
   ORDER BY name_start DESC, id DESC LIMIT $7`,
);

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
  shop: number,
  after: string | undefined,
  limit: number,
  filters: ListFilters,
): Query<Page<Pet, string>> {
  const [, shown, start, id] = /^(?:#(\d)|([^]*) (-?\d+))$/.exec(after ?? "#0") ?? [];
  const position = start === undefined ? undefined : { start, id: BigInt(id as string) };
  const hits = yield* exactHits(shop, filters);
  const rest = yield* readOthers(shop, hits, position, limit, filters);
  const exact = position ? [] : hits.slice(Number(shown));
  const items = [...exact, ...rest.items].slice(0, limit);
  const positionAt = (place: number) =>
    place < exact.length ? `#${Number(shown) + place + 1}` : rest.positionAt(place - exact.length);
  const next = exact.length + rest.items.length > limit ? positionAt(limit - 1) : rest.next;
  return { items, positionAt, ...(next !== undefined && { next }) };
}

/** The animals that have the text of a search as their id or reference, and fit the other filters. */
function* exactHits(shop: number, { search, status, categoryId, name }: ListFilters): Query<readonly Pet[]> {
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

/** The animals of a list by name without the exact hits of its search. */
function readOthers(
  shop: number,
  hits: readonly Pet[],
  position: { readonly start: string; readonly id: bigint } | undefined,
  limit: number,
  { search, status, categoryId, name, sort }: ListFilters,
): Query<Page<Pet, string>> {
  const isDescending = sort === "-name";
  const [lowest, highest] = prefixBounds(foldedStart(search ?? "", MAX_SEARCH), MAX_SEARCH);
  const { start, id } =
    position ?? (isDescending ? { start: highest, id: INT64_MAX } : { start: lowest, id: INT64_MIN });
  if (status === undefined && categoryId === undefined && name === undefined) {
    const [one, other] = [hits[0]?.id ?? INT64_MIN, hits[1]?.id ?? INT64_MIN];
    const bound = isDescending ? lowest : highest;
    return readUnfiltered(
      isDescending ? rowsBefore : rowsAfter,
      [shop, start, id, bound, one, other, limit + 1],
      limit,
    );
  }
  const bounds: Condition[] = [
    (bind) => (isDescending ? `name_start >= ${bind(lowest)}` : `name_start <= ${bind(highest)}`),
    ...hits.map(
      (hit): Condition =>
        (bind) =>
          `id <> ${bind(hit.id)}`,
    ),
  ];
  const scanned: Condition[] = [
    ...(status === undefined ? [] : ([(bind) => `status = ${bind(status)}`] satisfies Condition[])),
    ...(categoryId === undefined ? [] : ([(bind) => `category_id = ${bind(categoryId)}`] satisfies Condition[])),
    ...(name === undefined ? [] : [hasInName(name)]),
  ];
  const others = [
    ...(categoryId === undefined ? [] : ["category_id"]),
    ...(name === undefined ? [] : ["name", "name_folded"]),
  ];
  return readPage(
    {
      table: "pets",
      columns: [...listed, "name_start"],
      attached,
      shop,
      after: id,
      limit,
      sort: isDescending ? "-id" : "id",
      by: "name_start",
      afterBy: start,
      bounds,
      scanned,
      scannedColumns: ["name_start", "status", ...others],
      ...(others.length > 0 && { scanLimit: SCATTERED_SCAN }),
    },
    toPet,
    positionOf,
  );
}

function* readUnfiltered(rows: typeof rowsAfter, parameters: PageByName, limit: number): Query<Page<Pet, string>> {
  return pageOf(yield* all(rows, ...parameters), limit, toPet, positionOf);
}

function positionOf({ name_start: start, id }: NamedRow): string {
  return `${start} ${id}`;
}
