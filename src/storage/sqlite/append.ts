import type { Counted, Row } from "../statement.ts";
import { type AppendStep, latestTime, type StoreStep } from "../transaction.ts";
import type { Connection } from "./connection.ts";

/**
 * Runs one or more steps with the same append to the same shop. One statement reserves all their ids. Returns the rows of
 * each step.
 */
export function appendTogether(connection: Connection, steps: readonly AppendStep[]): Row[][] {
  const [{ append, shop }] = steps as [AppendStep];
  const counted = connection.first(append.count, [shop, latestTime(steps), steps.length]) as Counted | undefined;
  if (!counted) return steps.map(() => []);
  let { id, log_id } = counted;
  const { at } = counted;
  return steps.map(({ values, logged }) => {
    const row: Counted = { id: id++, at, log_id: log_id++ };
    connection.all(append.insert, [shop, row.id, at, ...values]);
    connection.all(append.log, [shop, row.id, at, row.log_id, ...logged]);
    return [row];
  });
}

/** True if both steps append to the same table of the same shop. */
export function isSameAppend(one: AppendStep, other: StoreStep | undefined): boolean {
  return other !== undefined && "append" in other && one.append === other.append && one.shop === other.shop;
}
