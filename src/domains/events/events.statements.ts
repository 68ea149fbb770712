import { parseJson } from "../../contract/parse-json.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { shopTable } from "../../storage/owned-table.ts";
import { cachedQuery, type IdRow, query, type Row } from "../../storage/statement.ts";
import { all, type Query } from "../../storage/transaction.ts";
import type { Event } from "./events.schemas.ts";
import { keyIdOf } from "./publish.ts";

export interface EventRow extends Row {
  id: bigint;
  at: bigint;
  type: string;
  pet_id: bigint | null;
  subject: string | null;
  actor: string;
  request_id: string | null;
  data: string | null;
  previous: string | null;
}
type NewestRow = IdRow & { shop: bigint };
/** `first_id` is null if no event is stored. */
interface StoredRangeRow extends Row {
  first_id: bigint | null;
  last_id: bigint;
}

/** The ids of the stored events. If none is stored, `first` is `last` + 1. `last` is the newest that there ever was. */
export interface StoredRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** The columns besides `id` that are small. In a row, they come before the others. */
export const smallColumns = ["at", "type", "pet_id", "subject", "actor", "request_id"];
export const columns = [...smallColumns, "data", "previous"];

export const eventTables = [shopTable("events", "id")];

export const byId = query<[shop: number, id: bigint], EventRow>(
  `SELECT id, ${columns.join(", ")} FROM events WHERE shop = $1 AND id = $2`,
);
export const storedRange = query<[shop: number], StoredRangeRow>(`
  SELECT (SELECT min(id) FROM events WHERE events.shop = shops.shop) AS first_id, last_event_id AS last_id
  FROM shops WHERE shop = $1
`);
/**
 * Of the ids from `$1` to `$2`, the first whose event is not before the time `$3`, in Unix milliseconds; `$2` + 1 if all
 * are before it. A binary search: no id is missing in the range, and times never decrease.
 */
export const firstSince = query<[from: bigint, to: bigint, at: number, shop: number], IdRow>(`
  WITH RECURSIVE part (low, high) AS (
    SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT) + 1
    UNION ALL
    SELECT CASE WHEN at < $3 THEN events.id + 1 ELSE low END, CASE WHEN at < $3 THEN high ELSE events.id END
    FROM part JOIN events ON shop = $4 AND id = (low + high) / 2 WHERE low < high
  )
  SELECT low AS id FROM part WHERE low = high
`);
export const petOfOrder = query<[shop: number, id: bigint], IdRow>(
  "SELECT pet_id AS id FROM store_orders WHERE shop = $1 AND id = $2",
);

/** Without a row, the shop was deleted. */
export function toStoredRange(row: StoredRangeRow | undefined): StoredRange {
  const last = row?.last_id ?? 0n;
  return { first: row?.first_id ?? last + 1n, last };
}

export function toEvent(row: EventRow): Event {
  const { id, type, at, pet_id, subject, data, previous } = row;
  return {
    id,
    type,
    at: timestampOf(at),
    actor: actorOf(row),
    subject: { type: type.slice(0, type.indexOf(".")), id: subject ?? String(pet_id) },
    ...(data !== null && { data: parseJson(data) as Record<string, unknown> }),
    ...(previous !== null && { previous: parseJson(previous) as Record<string, unknown> }),
  };
}

function actorOf({ actor, request_id }: EventRow): Event["actor"] {
  if (actor === "system" || actor === "operator") return { kind: actor };
  const keyId = keyIdOf(actor);
  return {
    kind: "key",
    ...(keyId !== undefined && { keyId }),
    ...(request_id !== null && { requestId: request_id }),
  };
}

/** The ids of the newest events of these shops, except deleted ones. `shops` must not be empty. */
export function newestEventsOf(shops: readonly number[]): Query<readonly NewestRow[]> {
  // The list is padded, so that there are few statements: an engine prepares each once.
  const size = 2 ** Math.ceil(Math.log2(shops.length));
  const parameters = Array.from({ length: size }, (_, index) => shops[index] ?? (shops[0] as number));
  const list = parameters.map((_, index) => `$${index + 1}`).join(", ");
  const sql = `SELECT shop, last_event_id AS id FROM shops WHERE shop IN (${list}) AND account_id IS NOT NULL`;
  return all(cachedQuery<NewestRow>(sql), ...parameters);
}
