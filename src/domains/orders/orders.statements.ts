import { foldedStart } from "../../../csv/name-key.ts";
import type { ShopNumber } from "../../contract/caller.ts";
import type { WaitingRow } from "../../contract/due-times.ts";
import { MAX_IDS } from "../../contract/paging.ts";
import { INT64_MAX, INT64_MIN, millisecondsOf, parseInt64, timestampOf } from "../../contract/schemas.ts";
import { together } from "../../storage/combined-steps.ts";
import { type Condition, isOneOf, type Page, readPage } from "../../storage/pages.ts";
import { prefixBounds } from "../../storage/prefix.ts";
import { inColumn, rowMapping } from "../../storage/row-mapping.ts";
import { acrossShops, change, type IdRow, query } from "../../storage/statement.ts";
import { enumeration, insertInto, integer, optional, type RowOf, table, text } from "../../storage/table.ts";
import { type Query } from "../../storage/transaction.ts";
import { attachedMetadata, metadataColumn, metadataField } from "../metadata/metadata.store.ts";
import { priceField } from "../shops/prices.ts";
import { MAX_SEARCH, type OrderFilters } from "./orders.operations.ts";
import type { StoreOrder } from "./orders.schemas.ts";

/**
 * `reference_start` is what orders are searched by. `due_at` is when the reservation ends; a fast-forward moves it, but not
 * `expires_at`, which clients have seen. `confirmed_by_key`, `confirmed_by`, `pet_name` and `category_id` are what they
 * were when the order was confirmed. The indexes of confirmed and returned orders have all that `getSales` reads, but not
 * on PostgreSQL, whose pages of the table hold many orders.
 */
export const orderTable = table(
  "store_orders",
  {
    shop: integer,
    id: integer,
    pet_id: integer,
    reference: optional(text),
    reference_start: optional(text),
    status: enumeration("placed", "confirmed", "cancelled", "expired", "returned"),
    placed_at: integer,
    expires_at: integer,
    due_at: integer,
    amount: optional(integer),
    currency: optional(text),
    confirmed_at: optional(integer),
    seller: optional(text),
    confirmed_by_key: optional(text),
    confirmed_by: optional(text),
    pet_name: optional(text),
    category_id: optional(integer),
    cancelled_at: optional(integer),
    returned_at: optional(integer),
    has_metadata: optional(integer),
  },
  {
    key: ["shop", "id"],
    indices: {
      store_orders_by_status: { on: "shop, status, id" },
      store_orders_by_pet: { on: "shop, pet_id, id" },
      store_orders_by_reference: { on: "shop, reference, id", where: "reference IS NOT NULL" },
      store_orders_by_start: { on: "shop, reference_start, id", where: "reference_start IS NOT NULL" },
      store_orders_by_time: { on: "shop, placed_at, id" },
      store_orders_confirmed: {
        on: "shop, confirmed_at, id",
        covers: "seller, category_id, currency, amount",
        where: "confirmed_at IS NOT NULL",
      },
      store_orders_returned: {
        on: "shop, returned_at, id",
        covers: "seller, category_id, currency, amount",
        where: "returned_at IS NOT NULL",
      },
      store_orders_open: { on: "shop, pet_id", unique: true, where: "status = 'placed'" },
      store_orders_due: { on: "due_at", where: "status = 'placed'" },
    },
  },
);

export type StoredOrderRow = Omit<RowOf<typeof orderTable>, "shop" | "reference_start" | "has_metadata"> & {
  metadata: string | null;
};
export type OrderRow = Omit<StoredOrderRow, "due_at">;

type Key = [shop: ShopNumber, id: bigint];

const time = (moment: string) => BigInt(millisecondsOf(moment));
const timeIfAny = (moment: string | undefined) => (moment === undefined ? null : time(moment));
const shownTime = (milliseconds: bigint | null) => (milliseconds === null ? undefined : timestampOf(milliseconds));

/** How an order is kept in its row. */
export const orderFields = rowMapping<
  Omit<StoreOrder, "id">,
  OrderRow,
  Omit<RowOf<typeof orderTable>, "shop" | "id" | "due_at">
>()("store_orders", {
  petId: inColumn("pet_id"),
  reference: {
    write: { reference: (reference) => reference ?? null },
    search: {
      reference_start: (reference) => (reference === undefined ? null : foldedStart(reference, MAX_SEARCH)),
    },
    read: (row) => row.reference ?? undefined,
  },
  status: inColumn("status"),
  price: priceField,
  seller: inColumn("seller"),
  placedAt: { write: { placed_at: time }, read: (row) => timestampOf(row.placed_at) },
  expiresAt: { write: { expires_at: time }, read: (row) => timestampOf(row.expires_at) },
  confirmedAt: { write: { confirmed_at: timeIfAny }, read: (row) => shownTime(row.confirmed_at) },
  confirmedBy: {
    write: { confirmed_by_key: (by) => by?.keyId ?? null, confirmed_by: (by) => by?.name ?? null },
    read: ({ confirmed_by_key: keyId, confirmed_by: name }) =>
      name === null ? undefined : { ...(keyId !== null && { keyId }), name },
  },
  petName: inColumn("pet_name"),
  categoryId: inColumn("category_id"),
  cancelledAt: { write: { cancelled_at: timeIfAny }, read: (row) => shownTime(row.cancelled_at) },
  returnedAt: { write: { returned_at: timeIfAny }, read: (row) => shownTime(row.returned_at) },
  metadata: metadataField,
});

const { readColumns } = orderFields;
/** Those that filters look at, without an index. */
const filtered = [
  "pet_id",
  "status",
  "placed_at",
  "confirmed_at",
  "reference",
  "seller",
  "confirmed_by_key",
  "category_id",
] as const;
const select = `SELECT id, ${readColumns.join(", ")}, due_at, ${metadataColumn("order", "store_orders")} FROM store_orders`;

export const byId = query<Key, StoredOrderRow>(`${select} WHERE shop = $1 AND id = $2`);
// `$2` is listed twice, so that PostgreSQL uses the index that has `pet_id` before the id. See docs/decisions.md.
export const lastByPet = query<Key, StoredOrderRow>(
  `${select} WHERE shop = $1 AND pet_id IN ($2, $2) ORDER BY pet_id DESC, id DESC LIMIT 1`,
);
export const openByPet = query<Key, StoredOrderRow>(`${select} WHERE status = 'placed' AND shop = $1 AND pet_id = $2`);
// Without orders of deleted shops, which cannot be locked: they would keep orders of other shops from expiring.
export const due = acrossShops<[now: number, after: number, limit: number], IdRow & { shop: bigint; due_at: bigint }>(
  `SELECT shop, id, due_at FROM store_orders WHERE status = 'placed' AND due_at <= $1 AND due_at > $2
     AND (SELECT account_id FROM shops WHERE shops.shop = store_orders.shop) IS NOT NULL
   ORDER BY due_at LIMIT $3`,
);
export const dueOfShop = query<[shop: ShopNumber, status: string, after: bigint, now: number, limit: number], IdRow>(
  `SELECT id FROM store_orders WHERE shop = $1 AND status IN ($2, $2) AND id > $3 AND due_at <= $4
   ORDER BY status, id LIMIT $5`,
);
/** The number of open orders up to a limit, and when the first one expires. */
export const openOfShop = query<[shop: ShopNumber, status: string, limit: number], WaitingRow>(
  `SELECT count(*) AS count, min(due_at) AS next FROM
     (SELECT due_at FROM store_orders WHERE shop = $1 AND status IN ($2, $2) ORDER BY status, id LIMIT $3) AS open`,
);
export const bringNearer = change<[milliseconds: number, shop: ShopNumber]>(
  "UPDATE store_orders SET due_at = due_at - $1 WHERE shop = $2 AND status = 'placed'",
);
export const nextId = change<[shop: ShopNumber], IdRow>(
  "UPDATE shops SET last_order_id = last_order_id + 1 WHERE shop = $1 RETURNING last_order_id AS id",
);
export const insert = insertInto(orderTable, ["shop", "id", "due_at", ...orderFields.columns]);
export const setDue = change<[...Key, dueAt: number]>(
  "UPDATE store_orders SET due_at = $3 WHERE shop = $1 AND id = $2",
);

const attached = attachedMetadata("order");
/** How many orders a page of a search scans for other conditions: they are read at random. */
const SEARCH_SCAN = 1_000;
/** The same of other lists: rows of orders are large. */
const LIST_SCAN = 5_000;

/** The position of the order that has the text of a search as its id, and comes before all others. */
const HIT = "#";

/**
 * One page of a list with any filters: up to `limit` orders after `after`; if it is absent, from the start. The position of
 * an order is its id; in a search, the start of its reference before that, so that it stays right if that changes.
 */
export function readOrders(
  shop: ShopNumber,
  after: string | undefined,
  limit: number,
  filters: OrderFilters,
): Query<Page<StoreOrder, string>> {
  const search = filters.search ? searchOf(filters.search, after) : undefined;
  const { ids, petId, reference, since, until, confirmedSince, confirmedUntil } = filters;
  const [field, isDescending] = filters.sort?.startsWith("-") ? [filters.sort.slice(1), true] : [filters.sort, false];
  const isPlacedInSpan = (since ?? until) !== undefined;
  const isSelective = (ids ?? reference ?? petId) !== undefined;
  // Times of orders are those of clocks, which can be wrong: the order of the ids says nothing about them.
  const byTime = field === "confirmedAt" ? "confirmed_at" : isPlacedInSpan && !isSelective ? "placed_at" : undefined;
  const by = search ? "reference_start" : byTime;
  // The most selective filter first. That of ids needs no other index than the primary key.
  const lead =
    by || ids
      ? undefined
      : reference !== undefined
        ? { column: "reference" as const, values: [reference] }
        : petId !== undefined
          ? { column: "pet_id" as const, values: differentIds(petId) }
          : filters.status !== undefined
            ? { column: "status" as const, values: [filters.status] }
            : undefined;
  const placed = isPlacedInSpan ? inSpan("placed_at", since, until) : [];
  // After the first page, the position implies one of the two bounds, and PostgreSQL would begin at the wrong one.
  const leftToWalk = after === undefined ? placed : placed.slice(...(isDescending ? [0, 1] : [1]));
  const confirmed = inSpan("confirmed_at", confirmedSince, confirmedUntil);
  const onId = ids ? [isOneOf(ids)] : [];
  const others = [
    ifGiven("status", "TEXT", lead?.column === "status" ? undefined : filters.status),
    ifGiven("reference", "TEXT", lead?.column === "reference" ? undefined : reference),
    ifGiven("confirmed_by_key", "TEXT", filters.confirmedBy),
    ifGiven("seller", "TEXT", filters.seller),
    ifGiven("category_id", "BIGINT", filters.categoryId),
  ];
  const ofPets = petId !== undefined && lead?.column !== "pet_id" ? [isOneOf(petId, "pet_id")] : [];
  const scannedTimes = [
    ...(by !== "confirmed_at" && (confirmedSince ?? confirmedUntil) !== undefined ? confirmed : []),
    ...(by !== "placed_at" ? placed : []),
  ];
  // All of these conditions or none, so that there are few statements.
  const isScanned = others.some(({ isSet }) => isSet) || ofPets.length > 0 || scannedTimes.length > 0;
  return readPage(
    {
      table: orderTable,
      columns: search ? [...readColumns, "reference_start"] : readColumns,
      scannedColumns: by === "reference_start" ? [...filtered, by] : filtered,
      attached,
      shop,
      after: search ? search.id : after === undefined ? undefined : BigInt(after),
      scanLimit: search ? SEARCH_SCAN : LIST_SCAN,
      ...(search && { afterBy: search.start }),
      limit,
      sort: isDescending ? "-id" : "id",
      by,
      lead,
      bounds: search ? search.bounds : by === "confirmed_at" ? confirmed : by ? leftToWalk : onId,
      scanned: [
        ...(isScanned ? [...others.map(({ condition }) => condition), ...ofPets, ...scannedTimes] : []),
        ...(by ? onId : []),
      ],
    },
    toOrder,
    (row) => (search ? `${row.reference_start} ${row.id}` : String(row.id)),
  );
}

/** The orders whose reference begins with a text, after a position, without the one that has it as its id. */
function searchOf(search: string, after: string | undefined) {
  const [lowest, highest] = prefixBounds(foldedStart(search, MAX_SEARCH), MAX_SEARCH);
  const [, start = lowest, id = INT64_MIN] = /^([^]*) (-?\d+)$/.exec(after ?? "") ?? [];
  const hit = parseInt64(search);
  const bounds: Condition[] = [
    (bind) => `reference_start <= ${bind(highest)}`,
    ...(hit === undefined ? [] : [((bind) => `id <> ${bind(hit)}`) satisfies Condition]),
  ];
  return { start, id: BigInt(id), bounds };
}

/**
 * One page of a search: first the order that has the text as its id, then those whose reference begins with it, in the
 * order of the first characters.
 */
export function* searchOrders(
  shop: ShopNumber,
  after: string | undefined,
  limit: number,
  filters: OrderFilters & { readonly search: string },
): Query<Page<StoreOrder, string>> {
  const { search, ...others } = filters;
  const id = parseInt64(search);
  const isHit = after === undefined && id !== undefined && (others.ids?.includes(id) ?? true);
  const [rest, hits] = yield* together([
    readOrders(shop, after, limit, filters),
    ...(isHit ? [readOrders(shop, undefined, 1, { ...others, ids: [id] })] : []),
  ]);
  const [hit] = hits?.items ?? [];
  if (!hit || !rest) return rest as Page<StoreOrder, string>;
  const positionAt = (place: number) => (place === 0 ? HIT : rest.positionAt(place - 1));
  const next = rest.items.length >= limit ? positionAt(limit - 1) : rest.next;
  return { items: [hit, ...rest.items].slice(0, limit), positionAt, ...(next !== undefined && { next }) };
}

/** A condition on a column, which every row fulfils if there is no value. */
function ifGiven(column: string, type: "TEXT" | "BIGINT", value: string | bigint | undefined) {
  const condition: Condition = (bind) => {
    const parameter = bind(value ?? null);
    return `(CAST(${parameter} AS ${type}) IS NULL OR ${column} = ${parameter})`;
  };
  return { condition, isSet: value !== undefined };
}

/** Each id once. The list is padded to one of a few lengths with ids that no animal has, so that there are few statements. */
function differentIds(ids: readonly bigint[]): bigint[] {
  const different = [...new Set(ids)];
  const length = [1, 10, MAX_IDS].find((one) => one >= different.length) ?? MAX_IDS;
  return [...different, ...Array.from({ length: length - different.length }, (_, index) => BigInt(-1 - index))];
}

/** True if a time is in a span, either end of which may be open. */
function inSpan(column: string, since: string | undefined, until: string | undefined): Condition[] {
  return [
    (bind) => `${column} >= ${bind(since === undefined ? 0 : millisecondsOf(since))}`,
    (bind) => `${column} < ${bind(until === undefined ? INT64_MAX : millisecondsOf(until))}`,
  ];
}

export function toOrder(row: OrderRow): StoreOrder {
  return orderFields.read(row, { id: row.id });
}
