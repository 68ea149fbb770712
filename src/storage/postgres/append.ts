import { type Append, jsonWithIntegersAsText, type SqlParameter, type Statement } from "../statement.ts";
import type { Step } from "../transaction.ts";

/** The statement that adds the rows of several steps to one shop, with its parameters. */
export function appendTogether(
  insertAll: Append["insertAll"],
  steps: readonly Pick<Step, "parameters" | "logged">[],
): [Statement, SqlParameter[]] {
  const shop = steps[0]?.parameters[1] ?? null;
  let now = 0;
  for (const { parameters } of steps) now = Math.max(now, Number(parameters[0]));
  const values = steps.map(({ parameters, logged = [] }) => [...parameters.slice(2), ...logged]);
  return [insertAll, [now, shop, steps.length, jsonWithIntegersAsText(values)]];
}
