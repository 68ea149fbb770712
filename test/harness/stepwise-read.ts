import type { QueryStatement, Statement } from "../../src/storage/statement.ts";
import type { StatementStep } from "../../src/storage/step.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { all, type KnownSteps, type Read } from "../../src/storage/transaction.ts";

/** Runs a read with `read`, one step at a time. Calls `before` with each step in the store. */
export async function readStepwise<T>(
  read: Storage["read"],
  transaction: Read<T>,
  before: (step: StatementStep) => Promise<void> | void,
): Promise<T> {
  const steps = transaction as KnownSteps<T>;
  let next = steps.next();
  while (!next.done) {
    const step = next.value;
    if ("waitsFor" in step) {
      next = steps.next(await step.waitsFor);
      continue;
    }
    if ("pauses" in step) {
      next = steps.next();
      continue;
    }
    const isGroup = "group" in step;
    const rows: unknown[] = [];
    for (const one of isGroup ? step.group : [step]) {
      const { statement, parameters } = one as StatementStep;
      await before({ statement, parameters });
      rows.push(await read(all(statement as QueryStatement, ...parameters)));
    }
    next = steps.next(isGroup ? rows : rows[0]);
  }
  return next.value;
}

/** The statement of a transaction's first step. */
export function firstStatementOf(transaction: Read<unknown>): Statement {
  return (transaction.next().value as StatementStep).statement;
}
