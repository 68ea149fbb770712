import type { Row, SqlParameter, Statement } from "./statement.ts";
import { type Call, type KnownSteps, type StatementStep, step, type Transaction } from "./transaction.ts";

/** Inside a transaction: runs the statement once with each list of parameters, in one round trip. */
export function* each(statement: Statement, lists: readonly (readonly SqlParameter[])[]): Transaction<void> {
  yield* together(lists.map((parameters) => ({ statement, parameters })));
}

/** Inside a transaction: runs independent statements in one round trip. */
export function* together(calls: readonly Call[]): Transaction<void> {
  const [call, ...more] = calls;
  if (call) yield step({ ...call, more });
}

/**
 * Inside a transaction: runs independent parts concurrently. The first steps of all parts are one round trip, then the
 * second steps, and so on. No part may use `append`. `final` in a part is an ordinary step.
 */
export function* sideBySide(parts: readonly Transaction<void>[]): Transaction<void> {
  let running = (parts as readonly KnownSteps<void>[]).map((part) => ({ part, next: part.next() }));
  for (;;) {
    for (const one of running) {
      while (!one.next.done && "afterCommit" in one.next.value) one.next = one.part.next(yield one.next.value);
    }
    running = running.filter(({ next }) => !next.done);
    const calls: Call[] = [];
    for (const { next } of running) {
      const { statement, parameters, more = [] } = next.value as StatementStep;
      calls.push({ statement, parameters }, ...more);
    }
    const [call, ...moreCalls] = calls;
    if (!call) return;
    let moreRows: readonly (readonly Row[])[] = [];
    const takeMore = (taken: readonly (readonly Row[])[]) => void (moreRows = taken);
    const rows = (yield step({ ...call, more: moreCalls, takeMore })) as readonly Row[];
    const rowsOfCalls = [rows, ...moreRows];
    for (const one of running) {
      const { more = [], takeMore: take } = one.next.value as StatementStep;
      const [rowsOfFirst = [], ...rowsOfMore] = rowsOfCalls.splice(0, 1 + more.length);
      take?.(rowsOfMore);
      one.next = one.part.next(rowsOfFirst);
    }
  }
}

/** The last step of a transaction: runs independent statements, and sends them with the commit, like `final`. */
export function* finalTogether(calls: readonly Call[]): Transaction<void> {
  const [call, ...more] = calls;
  if (call) yield step({ ...call, more, isLast: true });
}

/** Inside a transaction: runs another one that may end with `final`, then continues. */
export function* nested<T>(part: Transaction<T>): Transaction<T> {
  const steps = part as KnownSteps<T>;
  let next = steps.next();
  while (!next.done) next = steps.next(yield step({ ...next.value, isLast: false }));
  return next.value;
}

/**
 * Sorts items by the rows that a transaction changes for them. It locks several rows, and all processes must lock them in
 * the same order. Otherwise PostgreSQL reports a deadlock after a second.
 */
export function inLockOrder<T>(items: readonly T[], rowOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, row: rowOf(item) }))
    .toSorted((one, other) => (one.row === other.row ? 0 : one.row < other.row ? -1 : 1))
    .map(({ item }) => item);
}
