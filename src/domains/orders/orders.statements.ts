import type { WaitingRow } from "../../contract/due-times.ts";
import { MAX_IDS } from "../../contract/paging.ts";
import { INT64_MAX, millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { type Condition, isOneOf, type Page, readPage } from "../../storage/pages.ts";
import { acrossShops, change, type IdRow, query, type Row } from "../../storage/statement.ts";
import type { Query } from "../../storage/transaction.ts";
import { attachedMetadata, metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import { type PriceValues, readPrice } from "../shops/prices.ts";
import type { OrderFilters } from "./orders.operations.ts";
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
  `INSERT INTO store_orders (shop, id, pet_id, reference, status, placed_at, expires_at, due_at, amount, currency, seller,
     has_metadata)
   VALUES ($1, $2, $3, $4, 'placed', $5, $6, $6, $7, $8, $9, $10) RETURNING ${written}`,
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
export const setFields = change<[reference: string | null, hasMetadata: 1 | null, ...PriceValues, ...Key]>(
  "UPDATE store_orders SET reference = $1, has_metadata = $2, amount = $3, currency = $4 WHERE shop = $5 AND id = $6",
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

/** One page of a list with any filters: up to `limit` orders after `after`; if it is absent, from the start. */
export function readOrders(
  shop: number,
  after: bigint | undefined,
  limit: number,
  filters: OrderFilters,
): Query<Page<StoreOrder>> {
  const { ids, petId, reference, since, until, confirmedSince, confirmedUntil } = filters;
  const [field, isDescending] = filters.sort?.startsWith("-") ? [filters.sort.slice(1), true] : [filters.sort, false];
  const isPlacedInSpan = (since ?? until) !== undefined;
  const isSelective = (ids ?? reference ?? petId) !== undefined;
  // Times of orders are those of clocks, which can be wrong: the order of the ids says nothing about them.
  const by = field === "confirmedAt" ? "confirmed_at" : isPlacedInSpan && !isSelective ? "placed_at" : undefined;
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
      columns: listed,
      attached,
      shop,
      after,
      limit,
      sort: isDescending ? "-id" : "id",
      by,
      lead,
      bounds: by === "confirmed_at" ? confirmed : by ? leftToWalk : onId,
      scanned: [
        ...(isScanned ? [...others.map(({ condition }) => condition), ...ofPets, ...scannedTimes] : []),
        ...(by ? onId : []),
      ],
    },
    toOrder,
  );
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
