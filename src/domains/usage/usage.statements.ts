import { type Mode, modes } from "../../contract/caller.ts";
import { change, lockStatement, query, type Row, type Values } from "../../storage/statement.ts";
import { enumeration, integer, optional, table, text } from "../../storage/table.ts";

/** How far back usage is shown, in days. It is stored a day longer, so that the first interval is complete. */
export const SHOWN_DAYS = 30;

/** The requests of a key or a shop on a day, by operation and status. Each hour has a column, which is null without any. */
interface DayRow extends Row {
  /** In days since 1970. */
  day: bigint;
  operation: string;
  status: bigint;
}
interface SumRow extends Row {
  name: string;
  status: bigint;
  requests: bigint;
}
interface CallerRow extends Row {
  account_id: string;
  key_id: string;
  calls: bigint;
  /** The hour of the last call, in hours since 1970. */
  hour: bigint;
}

type Key = [accountId: string, mode: Mode, keyId: string];

const hours = Array.from({ length: 24 }, (_, hour) => `h${hour}`);
const keyColumns = ["day", "account_id", "mode", "key_id", "operation", "status"] as const;
const key = keyColumns.join(", ");
/**
 * `day` is in days since 1970. An empty `key_id` stands for all keys of the shop. The day comes first, so rows that are
 * written together lie together, and old rows are deleted from the front. The hours are null without requests.
 */
export const usageTable = table(
  "usage_counts",
  {
    day: integer,
    account_id: text,
    mode: enumeration(...modes),
    key_id: text,
    operation: text,
    status: integer,
    ...Object.fromEntries(hours.map((hour) => [hour, optional(integer)])),
  },
  { key: keyColumns },
);
const requests = hours.map((hour) => `coalesce(${hour}, 0)`).join(" + ");
const lastHour = `CASE ${hours
  .map((hour, index) => `WHEN ${hour} > 0 THEN ${index}`)
  .toReversed()
  .join(" ")} END`;
const places = (count: number, first: number) =>
  Array.from({ length: count }, (_, index) => `$${first + index}`).join(", ");

/** The requests of each hour in a row: pairs of the hour, in hours since 1970, and a number. */
export function hoursOf(row: DayRow): (readonly [hour: number, requests: number])[] {
  return hours.map((hour, index) => [Number(row.day) * 24 + index, Number(row[hour])] as const);
}

/**
 * Adds `$7` requests in an hour of the day, by the hour. Does nothing for a deleted account: a request that was already
 * in progress can end long after the deletion.
 */
export const addRequests = hours.map((hour) =>
  lockStatement<[...Key, day: number, operation: string, status: number, requests: number]>(
    `INSERT INTO usage_counts (${key}, ${hour}) SELECT $4, $1, $2, $3, $5, $6, $7
     WHERE EXISTS (SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NULL)
     ON CONFLICT (${key}) DO UPDATE SET ${hour} = coalesce(usage_counts.${hour}, 0) + excluded.${hour}`,
  ),
);
/** The most days that `SHOWN_DAYS` overlap. */
export const READ_DAYS = SHOWN_DAYS + 1;
/** Reads the counts of a key on several days. `$4` and later are the days. */
export const readDays = query<[...Key, ...days: number[]], DayRow>(
  `SELECT day, operation, status, ${hours.join(", ")} FROM usage_counts
   WHERE account_id = $1 AND mode = $2 AND key_id = $3 AND day IN (${places(READ_DAYS, 4)})`,
);
const sumsBy = (name: string, condition: string) =>
  query<[day: number], SumRow>(
    `SELECT ${name} AS name, status, CAST(sum(${requests}) AS BIGINT) AS requests FROM usage_counts
     WHERE day >= $1 AND ${condition} GROUP BY ${name}, status`,
  );
/** The requests since a day, by what they can be grouped by, and by status. */
export const sums = {
  accounts: sumsBy("account_id", "key_id = ''"),
  keys: sumsBy("key_id", "key_id <> ''"),
  operations: sumsBy("operation", "key_id = ''"),
};
/** The keys that have called an operation since a day: those of the latest hour first, then those with the most calls. */
export const callersOf = query<[day: number, operation: string], CallerRow>(
  `SELECT account_id, key_id, CAST(sum(${requests}) AS BIGINT) AS calls, max(day * 24 + ${lastHour}) AS hour
   FROM usage_counts WHERE day >= $1 AND operation = $2 AND key_id <> ''
   GROUP BY account_id, key_id ORDER BY 4 DESC, 3 DESC, key_id`,
);
const deleteWhere = <P extends Values>(condition: string, limit: string) =>
  change<P>(
    `DELETE FROM usage_counts WHERE (${key}) IN (SELECT ${key} FROM usage_counts WHERE ${condition} LIMIT ${limit})
     RETURNING day`,
  );
export const sweep = deleteWhere<[before: number, limit: number]>("day < $1", "$2");
/** The most days that rows are stored for: those that are read, and the day before. */
export const STORED_DAYS = READ_DAYS + 1;
/** Names the first columns of the primary key, so it is fast with many shops, and delays no other writer. */
export const deleteOfDays = deleteWhere<[accountId: string, ...daysAndLimit: number[]]>(
  `account_id = $1 AND day IN (${places(STORED_DAYS, 2)})`,
  `$${STORED_DAYS + 2}`,
);
/** There are few such rows: some that will be swept soon, or were written while the clock was ahead. */
export const deleteOfOtherDays = deleteWhere<[accountId: string, oldest: number, newest: number, limit: number]>(
  "account_id = $1 AND (day < $2 OR day > $3)",
  "$4",
);
