import { jsonWithIntegersAsText, type SqlParameter, type Statement } from "../statement.ts";
import { type AppendStep, latestTime } from "../transaction.ts";

/** The statement that runs one or more steps with the same `insertAll` and the same shop, with its parameters. */
export function appendTogether(steps: readonly AppendStep[]): [Statement, SqlParameter[]] {
  const [{ append, shop }] = steps as [AppendStep];
  const rows = steps.map(({ values, logged }) => [...values, ...logged]);
  return [append.insertAll, [shop, latestTime(steps), steps.length, jsonWithIntegersAsText(rows)]];
}
