import { millisecondsOf, timestampOf } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { type Condition, type Page, readPage } from "../../storage/pages.ts";
import { acrossShops, type Row, statement } from "../../storage/statement.ts";
import type { Transaction } from "../../storage/transaction.ts";
import { attachedMetadata, metadataColumn, readMetadata } from "../metadata/metadata.store.ts";
import type { OrderFilters } from "./orders.operations.ts";
import type { StoreOrder, StoreOrderStatus } from "./orders.schemas.ts";

export interface OrderRow extends Row {
  id: bigint;
  pet_id: bigint;
  reference: string | null;
  status: StoreOrderStatus;
  placed_at: bigint;
  expires_at: bigint;
  confirmed_at: bigint | null;
  cancelled_at: bigint | null;
  returned_at: bigint | null;
  metadata: string | null;
}

interface IdRow extends Row {
  id: bigint;
}

/** An order whose reservation has ended, by real time: `due_at`, in Unix milliseconds. */
interface DueRow extends IdRow {
  shop: bigint;
  due_at: bigint;
}

interface OpenRow extends Row {
  orders: bigint;
  next: bigint | null;
}

type Key = [shop: number, id: bigint];
type Times = [placedAt: number, expiresAt: number, dueAt: number];
type NewOrderValues = [...Key, petId: bigint, reference: string | null, ...Times, hasMetadata: 1 | null];

export const orderTables = [shopTable("store_orders", "id")];

const listed = [
  "pet_id",
  "reference",
  "status",
  "placed_at",
  "expires_at",
  "confirmed_at",
  "cancelled_at",
  "returned_at",
];
/** The columns that `RETURNING` gives. Metadata is read separately. */
const written = `id, ${listed.join(", ")}, NULL AS metadata`;
const select = `SELECT id, ${listed.join(", ")}, ${metadataColumn("order", "store_orders")} FROM store_orders`;

export const byId = statement<Key, OrderRow>(`${select} WHERE shop = $1 AND id = $2`);
// `$2` is listed twice, so that PostgreSQL uses the index that has `pet_id` before the id. See docs/decisions/postgresql.md.
export const lastByPet = statement<Key, OrderRow>(
  `${select} WHERE shop = $1 AND pet_id IN ($2, $2) ORDER BY pet_id DESC, id DESC LIMIT 1`,
);
export const openByPet = statement<Key, OrderRow>(`${select} WHERE status = 'placed' AND shop = $1 AND pet_id = $2`);
// Without orders of deleted shops, which cannot be locked: they would keep orders of other shops from expiring.
export const due = acrossShops<[now: number, after: number, limit: number], DueRow>(
  `SELECT shop, id, due_at FROM store_orders WHERE status = 'placed' AND due_at <= $1 AND due_at > $2
     AND (SELECT account_id FROM shops WHERE shops.shop = store_orders.shop) IS NOT NULL
   ORDER BY due_at LIMIT $3`,
);
export const dueOfShop = statement<[shop: number, status: string, after: bigint, now: number, limit: number], IdRow>(
  `SELECT id FROM store_orders WHERE shop = $1 AND status IN ($2, $2) AND id > $3 AND due_at <= $4
   ORDER BY status, id LIMIT $5`,
);
/** The number of open orders up to a limit, and when the first one expires by the shop's clock, in Unix milliseconds. */
export const openOfShop = statement<[shop: number, status: string, limit: number], OpenRow>(
  `SELECT count(*) AS orders, min(expires_at) AS next FROM
     (SELECT expires_at FROM store_orders WHERE shop = $1 AND status IN ($2, $2) ORDER BY status, id LIMIT $3) AS open`,
);
/** `$1` is how far the clock of the shop `$2` is ahead of real time from now on, in milliseconds. */
export const setDueTimes = statement<[ahead: number, shop: number]>(
  "UPDATE store_orders SET due_at = expires_at - $1 WHERE shop = $2 AND status = 'placed'",
);
export const nextId = statement<[shop: number], IdRow>(
  "UPDATE shops SET last_order_id = last_order_id + 1 WHERE shop = $1 RETURNING last_order_id AS id",
);
export const insert = statement<NewOrderValues, OrderRow>(
  `INSERT INTO store_orders (shop, id, pet_id, reference, status, placed_at, expires_at, due_at, has_metadata)
   VALUES ($1, $2, $3, $4, 'placed', $5, $6, $7, $8) RETURNING ${written}`,
);
/** By the status that an order gets: `$1` is the time in Unix milliseconds, `$2` the shop, `$3` the order. */
export const setStatus = {
  confirmed: statusUpdate("confirmed"),
  cancelled: statusUpdate("cancelled"),
  returned: statusUpdate("returned"),
};
export const setHasMetadata = statement<[hasMetadata: 1 | null, ...Key]>(
  "UPDATE store_orders SET has_metadata = $1 WHERE shop = $2 AND id = $3",
);
export const setExpired = statement<Key>("UPDATE store_orders SET status = 'expired' WHERE shop = $1 AND id = $2");

function statusUpdate(status: "confirmed" | "cancelled" | "returned") {
  return statement<[at: number, ...Key], OrderRow>(
    `UPDATE store_orders SET status = '${status}', ${status}_at = $1 WHERE shop = $2 AND id = $3 RETURNING ${written}`,
  );
}

const attached = attachedMetadata("order");

/** One page of a list with any filters: up to `limit` orders after `after`; if it is absent, from the start. */
export function readOrders(
  shop: number,
  after: bigint | undefined,
  limit: number,
  { status, petId, reference, since, until, sort }: OrderFilters,
): Transaction<Page<StoreOrder>> {
  // The most selective filter first.
  const [lead, ...scanned] = [
    { column: "reference", value: reference },
    { column: "pet_id", value: petId },
    { column: "status", value: status },
  ].flatMap(({ column, value }) => (value === undefined ? [] : [{ column, value }]));
  // After the first page, the cursor already implies one of the two time bounds, so it is left out.
  const isFirst = after === undefined;
  const bounds = [
    ...(since !== undefined && (isFirst || sort === "-id") ? [placedSince(since)] : []),
    ...(until !== undefined && (isFirst || sort !== "-id") ? [placedBefore(until)] : []),
  ];
  const selection = {
    table: "store_orders",
    columns: listed,
    attached,
    shop,
    after,
    limit,
    sort,
    lead,
    bounds,
    scanned: scanned.map(
      ({ column, value }): Condition =>
        (bind) =>
          `${column} = ${bind(value)}`,
    ),
  };
  return readPage(selection, toOrder);
}

// The times of a shop's orders never decrease, so a time is a bound of ids. If no order has such a time, the bound is
// null, and the list is empty.
function placedSince(moment: string): Condition {
  const first = "SELECT id FROM store_orders WHERE shop = $1 AND placed_at >=";
  return (bind) => `id >= (${first} ${bind(millisecondsOf(moment))} ORDER BY placed_at, id LIMIT 1)`;
}

function placedBefore(moment: string): Condition {
  const last = "SELECT id FROM store_orders WHERE shop = $1 AND placed_at <";
  return (bind) => `id <= (${last} ${bind(millisecondsOf(moment))} ORDER BY placed_at DESC, id DESC LIMIT 1)`;
}

export function toOrder(row: OrderRow): StoreOrder {
  return {
    id: row.id,
    petId: row.pet_id,
    ...(row.reference !== null && { reference: row.reference }),
    status: row.status,
    placedAt: timestampOf(row.placed_at),
    expiresAt: timestampOf(row.expires_at),
    ...(row.confirmed_at !== null && { confirmedAt: timestampOf(row.confirmed_at) }),
    ...(row.cancelled_at !== null && { cancelledAt: timestampOf(row.cancelled_at) }),
    ...(row.returned_at !== null && { returnedAt: timestampOf(row.returned_at) }),
    ...(row.metadata !== null && { metadata: readMetadata(row.metadata) }),
  };
}
