import { type Append, type ChangeStatement, jsonWithIntegersAsText, type SqlParameter } from "../statement.ts";
import { type AppendStep, countParameters } from "../transaction.ts";

const statements = new Map<Append, ChangeStatement>();

/** The statement that runs one or more steps with the same append to the same shop, with its parameters. */
export function appendStatement(steps: readonly AppendStep[]): [ChangeStatement, SqlParameter[]] {
  const [{ append }] = steps as [AppendStep];
  const counted = countParameters(steps);
  let statement = statements.get(append);
  if (!statement) statements.set(append, (statement = appendAll(append, `$${counted.length + 1}`)));
  return [statement, [...counted, jsonWithIntegersAsText(steps.map(({ row, logged }) => [row, logged]))]];
}

/** One statement for all three, to save round trips. `rows` is a parameter: a JSON array of pairs of arrays. */
function appendAll({ count, insert, log }: Append, rows: string): ChangeStatement {
  const [id, logId] = ["(counted.id + number - 1)", "(counted.log_id + number - 1)"];
  return {
    sql: `WITH counted AS (${count.sql}),
      given AS (
        SELECT pair, number FROM jsonb_array_elements(CAST(CAST(${rows} AS TEXT) AS JSONB)) WITH ORDINALITY AS given (pair, number)
      ),
      inserted AS (${forEachRow(insert, "pair->0", ["$1", id, "counted.at"])}),
      logged AS (${forEachRow(log, "pair->1", ["$1", id, "counted.at", logId])})
      SELECT id, at, log_id FROM counted`,
    kind: "change",
  };
}

/** An `INSERT … VALUES (…)` for all rows. Its first parameters are known; the JSON array `array` has the others. */
function forEachRow({ sql }: ChangeStatement, array: string, known: readonly string[]): string {
  return sql
    .replace(/VALUES \(([^]*)\)$/, (_, values) => `SELECT ${values} FROM counted, given`)
    .replaceAll(/\$(\d+)/g, (_, number) => known[number - 1] ?? `(${array}->>${number - 1 - known.length})`);
}
