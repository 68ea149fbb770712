import type { Handlers } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Clock } from "../../timing/clock.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import type { UsageInterval, usageOperations } from "./usage.operations.ts";
import type { UsageStore } from "./usage.store.ts";
import type { UsageCounter } from "./usage-counter.ts";

/** `operations` are all operations that the service serves. They show which ones are deprecated. */
export function usageHandlers(
  counter: UsageCounter,
  store: UsageStore,
  clock: Clock,
  operations: readonly Operation[],
): Handlers<typeof usageOperations> {
  const deprecated = new Set(operations.filter(({ deprecation }) => deprecation).map(({ name }) => name));
  const marked = (interval: UsageInterval): UsageInterval => ({
    ...interval,
    operations: interval.operations.map((one) =>
      one.operation !== undefined && deprecated.has(one.operation) ? { ...one, deprecated: true } : one,
    ),
  });
  return {
    getUsage: ({ caller, query: { granularity, limit, keyId }, after }) => {
      const unsaved = () => counter.unsaved(caller, keyId);
      const query = { before: after, limit, keyId, now: clock.now(), unsaved };
      const page = counter.countingOnce(() => store.page(caller, granularity, query));
      return whenReady(page, ({ items, ...rest }) => ({ items: items.map(marked), ...rest }));
    },
  };
}
