import type { ShopNumber } from "../../contract/caller.ts";
import { millisecondsOf } from "../../contract/schemas.ts";
import { acrossShops, cachedQuery, change, lockStatement, query, type SqlParameter } from "../../storage/statement.ts";
import { integer, type RowOf, table, text } from "../../storage/table.ts";
import { all, type Query } from "../../storage/transaction.ts";
import type { StatusClass } from "./requests.operations.ts";
import type { valuesOf } from "./stored-request.ts";

/**
 * `number` counts the records of a shop, so the oldest can be found. Where `shop` is 0, the request had no valid key. The
 * index by time has the columns of all filters, so that only matching rows are looked up. `facts` is JSON.
 */
const recordTable = table(
  "request_records",
  {
    shop: integer,
    number: integer,
    id: text,
    at: integer,
    key_id: text,
    operation: text,
    status: integer,
    code: text,
    facts: text,
  },
  {
    key: ["shop", "number"],
    keepsOrder: true,
    indices: {
      request_records_by_id: { on: "shop, id", unique: true },
      request_records_by_time: { on: "shop, at, number, key_id, status, operation, code" },
      request_records_due: { on: "at" },
    },
  },
);
const numberTable = table("request_numbers", { shop: integer, last: integer }, { key: ["shop"] });
export const requestTables = [recordTable, numberTable];

export type RecordRow = Omit<RowOf<typeof recordTable>, "shop">;
type ShopRow = { shop: bigint };
type FoundRow = ShopRow & { id: string; at: bigint };

const columns = "number, id, at, key_id, operation, status, code, facts";

type RecordValues = ReturnType<typeof valuesOf>;

/**
 * Reserves `$2` numbers for the shop `$1`, or for requests without a shop (0), and locks its records. Returns no row if
 * the shop's data was deleted.
 */
export const takeNumbers = lockStatement<[shop: ShopNumber, count: number], { last: bigint }>(
  `INSERT INTO request_numbers (shop, last)
   SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT)
   WHERE $1 = 0 OR EXISTS (SELECT 1 FROM shops WHERE shop = $1 AND account_id IS NOT NULL)
   ON CONFLICT (shop) DO UPDATE SET last = request_numbers.last + excluded.last RETURNING last`,
);
/** Adds a record, unless its key already has `$11` in that second: other processes record requests of the key too. */
export const insertRecord = change<[...RecordValues, number: number, second: number, most: number]>(
  `INSERT INTO request_records (shop, id, at, key_id, operation, status, code, facts, number)
   SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS TEXT),
     CAST($6 AS BIGINT), CAST($7 AS TEXT), CAST($8 AS TEXT), CAST($9 AS BIGINT)
   WHERE (
     SELECT count(*) FROM request_records WHERE shop = $1 AND at >= $10 AND at < $10 + 1000 AND key_id = $4
   ) < $11
   ON CONFLICT (shop, id) DO NOTHING`,
);
export const deleteUpTo = change<[shop: ShopNumber, number: number]>(
  "DELETE FROM request_records WHERE shop = $1 AND number <= $2",
);

export const recordById = query<[shop: ShopNumber, id: string], RecordRow>(
  `SELECT ${columns} FROM request_records WHERE shop = $1 AND id = $2`,
);
/** For an operator, who knows only the id. It uses the index of each shop. */
export const findById = acrossShops<[id: string], FoundRow>(
  `SELECT shop, id, at FROM request_records
   WHERE shop IN (SELECT shop FROM shops UNION ALL SELECT 0) AND id = $1 ORDER BY at DESC LIMIT 1`,
);
export const findOld = acrossShops<[before: number, limit: number], FoundRow>(
  "SELECT shop, id, at FROM request_records WHERE at < $1 ORDER BY at LIMIT $2",
);
export const shopsSince = acrossShops<[at: number], ShopRow>(
  "SELECT DISTINCT shop FROM request_records WHERE at >= $1",
);
export const recordsSince = query<[shop: ShopNumber, at: number], RecordRow>(
  `SELECT ${columns} FROM request_records WHERE shop = $1 AND at >= $2`,
);
export const deleteOld = change<[shop: ShopNumber, at: number, limit: number], { number: bigint }>(
  `DELETE FROM request_records WHERE shop = $1 AND number IN (
     SELECT number FROM request_records WHERE shop = $1 AND at < $2 ORDER BY at LIMIT $3
   ) RETURNING number`,
);

/** Which records of a shop to read. `until` is exclusive. */
export interface RecordFilters {
  readonly status?: StatusClass | undefined;
  readonly code?: string | undefined;
  readonly operation?: string | undefined;
  readonly keyId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** The lowest status of a class. */
const firstOf = (status: StatusClass) => Number(status[0]) * 100;

/**
 * Reads up to `limit` records of a shop before a position (a time and a number), the newest first. `until` is no
 * condition here: the caller starts at it if it is earlier.
 */
export function readRecords(
  shop: ShopNumber,
  [at, number]: readonly [number, number],
  limit: number,
  { status, code, operation, keyId, since }: RecordFilters,
): Query<readonly RecordRow[]> {
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const conditions = [
    `shop = ${bind(shop)}`,
    `(at, number) < (${bind(at)}, ${bind(number)})`,
    `at >= ${bind(since === undefined ? 0 : millisecondsOf(since))}`,
    ...(keyId === undefined ? [] : [`key_id = ${bind(keyId)}`]),
    ...(status === undefined ? [] : [`status BETWEEN ${bind(firstOf(status))} AND ${bind(firstOf(status) + 99)}`]),
    ...(operation === undefined ? [] : [`operation = ${bind(operation)}`]),
    ...(code === undefined ? [] : [`code = ${bind(code)}`]),
  ];
  // The index has all columns of the filters: only matching rows are looked up.
  const sql = `SELECT ${columns} FROM request_records WHERE ${conditions.join(" AND ")}
    ORDER BY at DESC, number DESC LIMIT ${bind(limit)}`;
  return all(cachedQuery<RecordRow>(sql), ...parameters);
}
