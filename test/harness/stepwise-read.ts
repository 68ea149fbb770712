import type { Storage } from "../../src/storage/storage.ts";
import { all, type Call, type KnownSteps, type Transaction } from "../../src/storage/transaction.ts";

/** Runs a read with `read`, one step at a time. Calls `before` with each step in the store. */
export async function readStepwise<T>(
  read: Storage["read"],
  transaction: Transaction<T>,
  before: (call: Call) => Promise<void> | void,
): Promise<T> {
  const steps = transaction as KnownSteps<T>;
  let next = steps.next();
  while (!next.done) {
    const step = next.value;
    if ("waitsFor" in step) {
      next = steps.next(await step.waitsFor);
      continue;
    }
    const call = step as Call;
    await before(call);
    next = steps.next(await read(all(call.statement, ...call.parameters)));
  }
  return next.value;
}
