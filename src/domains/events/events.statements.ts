import type { ShopNumber } from "../../contract/caller.ts";
import { parseJson } from "../../contract/parse-json.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { cachedQuery, type IdRow, query, type Row } from "../../storage/statement.ts";
import { all, type Query } from "../../storage/transaction.ts";
import type { Event } from "./events.schemas.ts";
import { columns, type EventRow } from "./events.table.ts";
import { keyIdOf } from "./publish.ts";

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

/** The most data of events that is read at once, in bytes. */
const AT_ONCE = 64 * 1024;

export const byId = query<[shop: ShopNumber, id: bigint], EventRow>(
  `SELECT id, ${columns.join(", ")} FROM events WHERE shop = $1 AND id = $2`,
);
export const storedRange = query<[shop: ShopNumber], StoredRangeRow>(`
  SELECT (SELECT min(id) FROM events WHERE events.shop = shops.shop) AS first_id, last_event_id AS last_id
  FROM shops WHERE shop = $1
`);
/**
 * Of the ids from `$1` to `$2`, the first whose event is not before the time `$3`, in Unix milliseconds; `$2` + 1 if all
 * are before it. A binary search: no id is missing in the range, and times never decrease.
 */
export const firstSince = query<[from: bigint, to: bigint, at: number, shop: ShopNumber], IdRow>(`
  WITH RECURSIVE part (low, high) AS (
    SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT) + 1
    UNION ALL
    SELECT CASE WHEN at < $3 THEN events.id + 1 ELSE low END, CASE WHEN at < $3 THEN high ELSE events.id END
    FROM part JOIN events ON shop = $4 AND id = (low + high) / 2 WHERE low < high
  )
  SELECT low AS id FROM part WHERE low = high
`);
/** The bytes of data of the events after the id `$2`. They are known without reading the data. */
const sizes = query<[shop: ShopNumber, after: bigint, limit: number], { size: bigint }>(
  `SELECT coalesce(octet_length(data), 0) + coalesce(octet_length(previous), 0) AS size
   FROM events WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

/** How many of at most `limit` events after this id are not too many for one piece of work; at least one. */
export function* eventsAtOnce(shop: ShopNumber, after: bigint, limit: number): Query<number> {
  let left = AT_ONCE;
  const found = yield* all(sizes, shop, after, limit);
  const fitting = found.findIndex(({ size }) => (left -= Number(size)) < 0);
  return fitting < 0 ? limit : Math.max(1, fitting);
}

/** Without a row, the shop was deleted. */
export function toStoredRange(row: StoredRangeRow | undefined): StoredRange {
  const last = row?.last_id ?? 0n;
  return { first: row?.first_id ?? last + 1n, last };
}

export function toEvent(row: EventRow): Event {
  const { id, type, at, under, subject, data, previous } = row;
  return {
    id,
    type,
    at: timestampOf(at),
    actor: actorOf(row),
    subject: { type: type.slice(0, type.indexOf(".")), id: subject ?? String(under) },
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
