import { isFailure } from "../../src/contract/errors.ts";
import type { Change, Step } from "../../src/contract/steps.ts";
import { orderExpired } from "../../src/domains/orders/orders.operations.ts";
import type { Statement } from "../../src/storage/statement.ts";
import type { StoreStep } from "../../src/storage/step.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import type { KnownSteps } from "../../src/storage/transaction.ts";

/**
 * The same storage, whose changes throw if they make mistakes that no type finds: they return a failure although they have
 * changed something, which would be committed; or they read before they take their first lock, or take none before they
 * change something, and so may decide by what another process has just changed.
 */
export function checkedChanges(storage: OpenStorage): OpenStorage {
  const write = storage.write.bind(storage);
  return Object.assign(storage, {
    write: <T>(body: () => Change<T>, payer?: number) => write(() => checked(body() as KnownSteps<T>), payer),
  });
}

function* checked<T>(steps: KnownSteps<T>): Change<T> {
  let [isLocked, hasRead, hasChanged, hasExpired] = [false, false, false, false];
  const note = (step: StoreStep): void => {
    if ("group" in step) return step.group.forEach(note);
    const statement: Statement = "append" in step ? step.append.count : step.statement;
    if (statement.locks) {
      if (hasRead && !isLocked) throw new TypeError(`A change has read before it took a lock: ${statement.sql}`);
      isLocked = true;
    } else if (statement.kind === "query") hasRead = true;
    // The environment of a store is set once.
    else if (hasRead && !isLocked && !statement.sql.startsWith("INSERT INTO store_environment"))
      throw new TypeError(`A change has read without a lock before it changed something: ${statement.sql}`);
    // The response that is stored for an idempotency key can be a failure.
    else if (!statement.sql.startsWith("INSERT INTO stored_responses")) hasChanged = true;
    // A refused request may be the first to find that a reservation has ended, which is kept.
    hasExpired ||= "parameters" in step && step.parameters.includes(orderExpired.type);
  };
  let next = steps.next();
  while (!next.done) {
    if (!("afterCommit" in next.value)) note(next.value as StoreStep);
    next = steps.next(yield next.value as Step<"change">);
  }
  const outcome: unknown = next.value;
  const response =
    typeof outcome === "object" && outcome !== null && "response" in outcome ? outcome.response : outcome;
  if (hasChanged && !hasExpired && isFailure(response))
    throw new TypeError("A change has returned a failure, but changed something before.");
  return next.value;
}
