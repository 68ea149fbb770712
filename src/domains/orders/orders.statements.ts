import { foldedStart } from "../../../csv/name-key.ts";
import type { WaitingRow } from "../../contract/due-times.ts";
import { MAX_IDS } from "../../contract/paging.ts";
import { INT64_MAX, INT64_MIN, millisecondsOf, parseInt64, timestampOf } from "../../contract/schemas.ts";
import { together } from "../../storage/combined-steps.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { type Condition, isOneOf, type Page, readPage } from "../../storage/pages.ts";
import { prefixBounds } from "../../storage/prefix.ts";
import { acrossShops, change, type IdRow, query, type Row } from "../../storage/statement.ts";
import type { Query } from "../../storage/transaction.ts";
import { attachedMetadata, metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import { type PriceValues, readPrice } from "../shops/prices.ts";
import { MAX_SEARCH, type OrderFilters } from "./orders.operations.ts";
import type { StoreOrder, StoreOrderStatus } from "./orders.schemas.ts";

export interface OrderRow extends Row {
  id: bigint;
  pet_id: bigint;
  reference: string | null;
  status: StoreOrderStatus;
  placed_at: bigint;
  expires_at: bigint;
  amount: bigint | null;
  currency: string | null;
  confirmed_at: bigint | null;
  seller: string | null;
  confirmed_by_key: string | null;
  confirmed_by: string | null;
  pet_name: string | null;
  category_id: bigint | null;
  cancelled_at: bigint | null;
  returned_at: bigint | null;
  metadata: string | null;
}

export interface StoredOrderRow extends OrderRow {
  /** When the reservation ends, in Unix milliseconds. A fast-forward moves it, but not `expires_at`. */
  due_at: bigint;
}

/** An order whose reservation has ended. */
type DueRow = IdRow & { shop: bigint; due_at: bigint };

type Key = [shop: number, id: bigint];
type Times = [placedAt: number, expiresAt: number];
type NewOrderValues = [
  ...Key,
  petId: bigint,
  reference: string | null,
  referenceStart: string | null,
  ...Times,
  ...PriceValues,
  seller: string | null,
  hasMetadata: 1 | null,
];
type ConfirmerValues = [seller: string, key: string | null, name: string];
type SoldPetValues = [petName: string, categoryId: bigint];

export const orderTables = [shopTable("store_orders", "id")];

const listed = [
  "pet_id",
  "reference",
  "status",
  "placed_at",
  "expires_at",
  "amount",
  "currency",
  "confirmed_at",
  "seller",
  "confirmed_by_key",
  "confirmed_by",
  "pet_name",
  "category_id",
  "cancelled_at",
  "returned_at",
];
/** The columns that `RETURNING` gives. Metadata is read separately. */
const written = `id, ${listed.join(", ")}, NULL AS metadata`;
const select = `SELECT id, ${listed.join(", ")}, due_at, ${metadataColumn("order", "store_orders")} FROM store_orders`;

export const byId = query<Key, StoredOrderRow>(`${select} WHERE shop = $1 AND id = $2`);
// `$2` is listed twice, so that PostgreSQL uses the index that has `pet_id` before the id. See docs/decisions.md.
export const lastByPet = query<Key, StoredOrderRow>(
  `${select} WHERE shop = $1 AND pet_id IN ($2, $2) ORDER BY pet_id DESC, id DESC LIMIT 1`,
);
export const openByPet = query<Key, StoredOrderRow>(`${select} WHERE status = 'placed' AND shop = $1 AND pet_id = $2`);
// Without orders of deleted shops, which cannot be locked: they would keep orders of other shops from expiring.
export const due = acrossShops<[now: number, after: number, limit: number], DueRow>(
  `SELECT shop, id, due_at FROM store_orders WHERE status = 'placed' AND due_at <= $1 AND due_at > $2
     AND (SELECT account_id FROM shops WHERE shops.shop = store_orders.shop) IS NOT NULL
   ORDER BY due_at LIMIT $3`,
);
export const dueOfShop = query<[shop: number, status: string, after: bigint, now: number, limit: number], IdRow>(
  `SELECT id FROM store_orders WHERE shop = $1 AND status IN ($2, $2) AND id > $3 AND due_at <= $4
   ORDER BY status, id LIMIT $5`,
);
/** The number of open orders up to a limit, and when the first one expires. */
export const openOfShop = query<[shop: number, status: string, limit: number], WaitingRow>(
  `SELECT count(*) AS count, min(due_at) AS next FROM
     (SELECT due_at FROM store_orders WHERE shop = $1 AND status IN ($2, $2) ORDER BY status, id LIMIT $3) AS open`,
);
export const bringNearer = change<[milliseconds: number, shop: number]>(
  "UPDATE store_orders SET due_at = due_at - $1 WHERE shop = $2 AND status = 'placed'",
);
export const nextId = change<[shop: number], IdRow>(
  "UPDATE shops SET last_order_id = last_order_id + 1 WHERE shop = $1 RETURNING last_order_id AS id",
);
export const insert = change<NewOrderValues, OrderRow>(
  `INSERT INTO store_orders (shop, id, pet_id, reference, reference_start, status, placed_at, expires_at, due_at, amount,
     currency, seller, has_metadata)
   VALUES ($1, $2, $3, $4, $5, 'placed', $6, $7, $7, $8, $9, $10, $11) RETURNING ${written}`,
);
/** By the status that an order gets: `$1` is the time in Unix milliseconds, `$2` the shop, `$3` the order. */
export const setStatus = { cancelled: statusUpdate("cancelled"), returned: statusUpdate("returned") };
export const setConfirmed = change<
  [at: number, ...Key, ...PriceValues, ...ConfirmerValues, ...SoldPetValues],
  OrderRow
>(
  `UPDATE store_orders SET status = 'confirmed', confirmed_at = $1, amount = $4, currency = $5, seller = $6,
     confirmed_by_key = $7, confirmed_by = $8, pet_name = $9, category_id = $10
   WHERE shop = $2 AND id = $3 RETURNING ${written}`,
);
export const setFields = change<
  [reference: string | null, referenceStart: string | null, hasMetadata: 1 | null, ...PriceValues, ...Key]
>(
  `UPDATE store_orders SET reference = $1, reference_start = $2, has_metadata = $3, amount = $4, currency = $5
   WHERE shop = $6 AND id = $7`,
);
export const setEnd = change<[...Key, end: number]>(
  "UPDATE store_orders SET expires_at = $3, due_at = $3 WHERE shop = $1 AND id = $2",
);
export const setExpired = change<[...Key, end: number]>(
  "UPDATE store_orders SET status = 'expired', expires_at = $3 WHERE shop = $1 AND id = $2",
);

function statusUpdate(status: "cancelled" | "returned") {
  return change<[at: number, ...Key], OrderRow>(
    `UPDATE store_orders SET status = '${status}', ${status}_at = $1 WHERE shop = $2 AND id = $3 RETURNING ${written}`,
  );
}

const attached = attachedMetadata("order");
/** How many orders a page of a search scans for other conditions: they are read at random. */
const SEARCH_SCAN = 1_000;

/** What an order with this reference is searched by. */
export function startOf(reference: string | undefined): string | null {
  return reference === undefined ? null : foldedStart(reference, MAX_SEARCH);
}

/** The position of the order that has the text of a search as its id, and comes before all others. */
const HIT = "#";

/**
 * One page of a list with any filters: up to `limit` orders after `after`; if it is absent, from the start. The position of
 * an order is its id; in a search, the start of its reference before that, so that it stays right if that changes.
 */
export function readOrders(
  shop: number,
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
        ? { column: "reference", values: [reference] }
        : petId !== undefined
          ? { column: "pet_id", values: differentIds(petId) }
          : filters.status !== undefined
            ? { column: "status", values: [filters.status] }
            : undefined;
  const placed = isPlacedInSpan ? inSpan("placed_at", since, until) : [];
  // After the first page, the position implies one of the two bounds, and PostgreSQL would begin at the wrong one.
  const leftToWalk = after === undefined ? placed : placed.slice(...(isDescending ? [0, 1] : [1]));
  const confirmed = inSpan("confirmed_at", confirmedSince, confirmedUntil);
  const onId = ids ? [isOneOf(ids)] : [];
  const others = [
    optional("status", "TEXT", lead?.column === "status" ? undefined : filters.status),
    optional("reference", "TEXT", lead?.column === "reference" ? undefined : reference),
    optional("confirmed_by_key", "TEXT", filters.confirmedBy),
    optional("seller", "TEXT", filters.seller),
    optional("category_id", "BIGINT", filters.categoryId),
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
      table: "store_orders",
      columns: search ? [...listed, "reference_start"] : listed,
      attached,
      shop,
      after: search ? search.id : after === undefined ? undefined : BigInt(after),
      ...(search && { afterBy: search.start, scanLimit: SEARCH_SCAN }),
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
    (row: OrderRow & { readonly reference_start: string }) =>
      search ? `${row.reference_start} ${row.id}` : String(row.id),
  );
}

/** The orders whose reference begins with a text, after a position, without the one that has it as its id. */
function searchOf(text: string, after: string | undefined) {
  const [lowest, highest] = prefixBounds(foldedStart(text, MAX_SEARCH), MAX_SEARCH);
  const [, start = lowest, id = INT64_MIN] = /^([^]*) (-?\d+)$/.exec(after ?? "") ?? [];
  const hit = parseInt64(text);
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
  shop: number,
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
function optional(column: string, type: "TEXT" | "BIGINT", value: string | bigint | undefined) {
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
  return {
    id: row.id,
    petId: row.pet_id,
    ...(row.reference !== null && { reference: row.reference }),
    status: row.status,
    ...(row.amount !== null && { price: readPrice(row) }),
    ...(row.seller !== null && { seller: row.seller }),
    placedAt: timestampOf(row.placed_at),
    expiresAt: timestampOf(row.expires_at),
    ...(row.confirmed_at !== null && {
      confirmedAt: timestampOf(row.confirmed_at),
      confirmedBy: {
        ...(row.confirmed_by_key !== null && { keyId: row.confirmed_by_key }),
        name: row.confirmed_by as string,
      },
      petName: row.pet_name as string,
      categoryId: row.category_id as bigint,
    }),
    ...(row.cancelled_at !== null && { cancelledAt: timestampOf(row.cancelled_at) }),
    ...(row.returned_at !== null && { returnedAt: timestampOf(row.returned_at) }),
    ...(row.metadata !== null && { metadata: readMetadata(row.metadata) }),
  };
}
