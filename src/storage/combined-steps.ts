import type { ChangeStatement, InsertStatement, Statement, Values } from "./statement.ts";
import { type KnownStep, type StoreStep, step } from "./step.ts";
import { all, type Change, type KnownSteps, type Steps } from "./transaction.ts";

/**
 * Runs independent parts of a transaction side by side: the first steps of all parts are one round trip, then the second
 * steps, and so on. Returns their results.
 */
export function* together<T, K extends Statement["kind"]>(parts: readonly Steps<T, K>[]): Steps<T[], K> {
  const running = (parts as readonly unknown[] as readonly KnownSteps<T>[]).map((part) => ({
    part,
    next: part.next(),
  }));
  for (;;) {
    for (const one of running) {
      while (!one.next.done && "afterCommit" in one.next.value)
        one.next = one.part.next(yield step<KnownStep, K>(one.next.value));
    }
    const waiting = running.filter(({ next }) => !next.done);
    if (waiting.length === 0) return running.map(({ next }) => next.value as T);
    const results = (yield step({ group: waiting.map(({ next }) => next.value as StoreStep) })) as readonly unknown[];
    for (const [index, one] of waiting.entries()) one.next = one.part.next(results[index]);
  }
}

/** The largest number of rows of one statement: a power of two, so that there are few statements. */
const MOST_ROWS = 256;

/** Part of a transaction: inserts rows with a few statements. */
export function insertAll<P extends Values>(insert: InsertStatement<P>, rows: readonly P[]): Change<unknown> {
  const parts: Change<unknown>[] = [];
  for (let done = 0; done < rows.length; ) {
    const count = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rows.length - done)));
    parts.push(all(insertOf(insert, count), ...rows.slice(done, (done += count)).flat()));
  }
  return together(parts);
}

const inserts = new Map<InsertStatement, Map<number, ChangeStatement>>();

/** The insert of one row as one of several rows. */
function insertOf(insert: InsertStatement, rows: number): ChangeStatement {
  if (rows === 1) return insert;
  const known = inserts.getOrInsertComputed(insert, () => new Map<number, ChangeStatement>());
  return known.getOrInsertComputed(rows, () => {
    const { head, rowOf, end, width } = insert;
    const copy = (_: unknown, index: number) => `(${rowOf((parameter) => `$${parameter + index * width}`)})`;
    return { sql: `${head} VALUES ${Array.from({ length: rows }, copy).join(", ")} ${end}`, kind: "change" };
  });
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
