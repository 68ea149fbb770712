import { type Row, statement } from "../../storage/statement.ts";
import { type StoredCounts, type StoredIntervals, storedIntervalsOf } from "./usage-intervals.ts";

type CountsRow = Row & StoredCounts;
interface SpanRow extends CountsRow {
  starts_at: bigint;
}
interface CallsRow extends Row {
  operation: string;
  key_id: string;
  account_id: string;
  calls: bigint;
  last_called_at: bigint;
}
/** One row for each deleted row. */
export interface SweptRow extends Row {
  at: bigint;
}

const key = "span, starts_at, account_id, mode, key_id, operation, status";
/** Reads the counts of a key in several spans in one statement. `$5` and later are the starts of the spans. */
const countsOf = ({ spanCount }: StoredIntervals) =>
  statement<SpanRow>(
    `SELECT starts_at, operation, status, counts FROM usage_counts
     WHERE span = $1 AND account_id = $2 AND mode = $3 AND key_id = $4
       AND starts_at IN (${Array.from({ length: spanCount }, (_, index) => `$${index + 5}`).join(", ")})
     ORDER BY starts_at DESC, operation, status`,
  );
export const readSpans = {
  minute: countsOf(storedIntervalsOf("minute")),
  hour: countsOf(storedIntervalsOf("hour")),
  day: countsOf(storedIntervalsOf("day")),
};
export const readRow = statement<CountsRow>(
  `SELECT operation, status, counts FROM usage_counts
   WHERE span = $1 AND starts_at = $2 AND account_id = $3 AND mode = $4 AND key_id = $5 AND operation = $6
     AND status = $7`,
);
/** True if an account was not deleted. A request that was already in progress can end long after the deletion. */
const isKept = (account: string) => `EXISTS (SELECT 1 FROM accounts WHERE id = ${account} AND deleted_at IS NULL)`;
export const writeCount = statement(
  `INSERT INTO usage_counts (${key}, counts) SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE ${isKept("$3")}
   ON CONFLICT (${key}) DO UPDATE SET counts = excluded.counts`,
);
export const sweepCounts = statement<SweptRow>(
  `DELETE FROM usage_counts WHERE (${key}) IN
     (SELECT ${key} FROM usage_counts WHERE span = $1 AND starts_at < $2 LIMIT $3)
   RETURNING starts_at AS at`,
);
const deleteCountsOf = (is: "<" | "=" | ">") =>
  statement<SweptRow>(
    `DELETE FROM usage_counts WHERE (${key}) IN
       (SELECT ${key} FROM usage_counts WHERE span = $1 AND starts_at ${is} $2 AND account_id = $3 LIMIT $4)
     RETURNING starts_at AS at`,
  );
export const deleteCounts = { before: deleteCountsOf("<"), at: deleteCountsOf("="), after: deleteCountsOf(">") };
const deleteCallsOf = (is: "<" | "=" | ">") =>
  statement<SweptRow>(
    `DELETE FROM deprecated_calls WHERE (day, operation, key_id) IN
       (SELECT day, operation, key_id FROM deprecated_calls WHERE day ${is} $1 AND account_id = $2 LIMIT $3)
     RETURNING day AS at`,
  );
export const deleteCalls = { before: deleteCallsOf("<"), at: deleteCallsOf("="), after: deleteCallsOf(">") };
export const addCalls = statement(
  `INSERT INTO deprecated_calls (day, operation, key_id, account_id, calls, last_called_at)
   SELECT $1, $2, $3, $4, $5, $6 WHERE ${isKept("$4")}
   ON CONFLICT (day, operation, key_id) DO UPDATE SET
     calls = deprecated_calls.calls + excluded.calls,
     last_called_at = CASE WHEN excluded.last_called_at > deprecated_calls.last_called_at
       THEN excluded.last_called_at ELSE deprecated_calls.last_called_at END`,
);
export const readCalls = statement<CallsRow>(
  `SELECT operation, key_id, account_id, CAST(sum(calls) AS BIGINT) AS calls, max(last_called_at) AS last_called_at
   FROM deprecated_calls WHERE day >= $1 GROUP BY operation, key_id, account_id ORDER BY 5 DESC, key_id`,
);
export const sweepCalls = statement<SweptRow>(
  `DELETE FROM deprecated_calls WHERE (day, operation, key_id) IN
     (SELECT day, operation, key_id FROM deprecated_calls WHERE day < $1 LIMIT $2)
   RETURNING day AS at`,
);
