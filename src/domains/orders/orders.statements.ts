import { timestampOf } from "../../contract/schemas.ts";
import { acrossShops, type Row, statement } from "../../storage/storage.ts";
import type { StoreOrder, StoreOrderStatus } from "./orders.operations.ts";

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
}

interface IdRow extends Row {
  id: bigint;
}

/** An order whose reservation has ended, by real time: `due_at`, in unix milliseconds. */
interface DueRow extends IdRow {
  shop: bigint;
  due_at: bigint;
}

const columns = "id, pet_id, reference, status, placed_at, expires_at, confirmed_at, cancelled_at, returned_at";
const select = `SELECT ${columns} FROM store_orders`;

export const byId = statement<OrderRow>(`${select} WHERE shop = $1 AND id = $2`);
export const rowsAfter = statement<OrderRow>(`${select} WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3`);
// Twice in the list: only the index that begins with the column then gives the order. See docs/decisions/postgresql.md.
export const rowsAfterByStatus = statement<OrderRow>(
  `${select} WHERE shop = $1 AND status IN ($2, $2) AND id > $3 ORDER BY status, id LIMIT $4`,
);
export const rowsAfterByPet = statement<OrderRow>(
  `${select} WHERE shop = $1 AND pet_id IN ($2, $2) AND id > $3 ORDER BY pet_id, id LIMIT $4`,
);
// `IS TRUE` keeps the engine from going through all orders of a status: one animal has few orders.
export const rowsAfterByPetAndStatus = statement<OrderRow>(
  `${select} WHERE shop = $1 AND pet_id IN ($2, $2) AND (status = $3) IS TRUE AND id > $4 ORDER BY pet_id, id LIMIT $5`,
);
export const openByPet = statement<OrderRow>(`${select} WHERE status = 'placed' AND shop = $1 AND pet_id = $2`);
export const due = acrossShops<DueRow>(
  "SELECT shop, id, due_at FROM store_orders WHERE status = 'placed' AND due_at <= $1 ORDER BY due_at LIMIT $2",
);
export const nextId = statement<IdRow>(
  "UPDATE shops SET last_order_id = last_order_id + 1 WHERE shop = $1 RETURNING last_order_id AS id",
);
export const insert = statement<OrderRow>(
  `INSERT INTO store_orders (shop, id, pet_id, reference, status, placed_at, expires_at, due_at)
   VALUES ($1, $2, $3, $4, 'placed', $5, $6, $7) RETURNING ${columns}`,
);
/** By the status that an order gets: `$1` is the time in unix milliseconds, `$2` the shop, `$3` the order. */
export const become = {
  confirmed: becoming("confirmed"),
  cancelled: becoming("cancelled"),
  returned: becoming("returned"),
};
export const setExpired = statement("UPDATE store_orders SET status = 'expired' WHERE shop = $1 AND id = $2");

function becoming(status: "confirmed" | "cancelled" | "returned") {
  return statement<OrderRow>(
    `UPDATE store_orders SET status = '${status}', ${status}_at = $1 WHERE shop = $2 AND id = $3 RETURNING ${columns}`,
  );
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
  };
}
