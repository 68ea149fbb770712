import {
  type Append,
  type Appended,
  type ChangeStatement,
  type InsertStatement,
  jsonWithIntegersAsText,
  type SqlParameter,
} from "../statement.ts";
import type { AppendStep } from "../step.ts";
import { countParameters } from "../transaction.ts";

const statements = new Map<Append, ChangeStatement>();

/** The statement that runs one or more steps with the same append to the same shop, with its parameters. */
export function appendStatement(steps: readonly AppendStep[]): [ChangeStatement, SqlParameter[]] {
  const [{ append }] = steps as [AppendStep];
  const counted = countParameters(steps);
  const statement = statements.getOrInsertComputed(append, () => appendAll(append, `$${counted.length + 1}`));
  return [
    statement,
    [...counted, jsonWithIntegersAsText(steps.map(({ row, logged, countedBy }) => [row, logged, countedBy]))],
  ];
}

/** What each step has appended, by the row of a statement for `count` of them. */
export function eachAppended({ id, log_id, ...row }: Appended, count: number): Appended[] {
  return Array.from({ length: count }, (_, index) => ({
    ...row,
    id: id + BigInt(index),
    log_id: log_id + BigInt(index),
  }));
}

/** One statement for all four, to save round trips. `rows` is a parameter: a JSON array of triples. */
function appendAll({ count, insert, log, countGroup }: Append, rows: string): ChangeStatement {
  const [id, logId] = ["(counted.id + number - 1)", "(counted.log_id + number - 1)"];
  return {
    sql: `WITH counted AS (${count.sql}),
      given AS (
        SELECT one, number FROM jsonb_array_elements(CAST(CAST(${rows} AS TEXT) AS JSONB)) WITH ORDINALITY AS given (one, number)
      ),
      inserted AS (${forEach(insert, ["$1", id, "counted.at"], "one->0")}),
      logged AS (${forEach(log, ["$1", id, "counted.at", logId], "one->1")}),
      grouped AS (${forEach(countGroup, ["CAST($1 AS BIGINT)", "CAST(one->>2 AS BIGINT)", "count(*)"])})
      SELECT id, at, log_id FROM counted`,
    kind: "change",
  };
}

/** An insert for all rows, or for all groups. Its first values are known; the JSON array `array` has the others. */
function forEach({ head, rowOf, end }: InsertStatement, known: readonly string[], array?: string): string {
  const values = rowOf((parameter, type) => {
    const value = known[parameter - 1];
    if (value !== undefined) return value;
    const given = `(${array}->>${parameter - 1 - known.length})`;
    return type === "INTEGER" ? `CAST(${given} AS BIGINT)` : given;
  });
  return `${head} SELECT ${values} FROM counted, given ${array === undefined ? "GROUP BY one->>2" : ""} ${end}`;
}
