import type { Handlers } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import type { UsageInterval, usageOperations } from "./usage.operations.ts";
import type { UsageCounter } from "./usage-counter.ts";

/** `operations` are all operations that the service serves. They show which ones are deprecated. */
export function usageHandlers(
  counter: UsageCounter,
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
    *getUsage({ caller, query: { granularity, limit, keyId }, after }) {
      const { items, ...rest } = yield* counter.page(caller, granularity, { before: after, limit, keyId });
      return { items: items.map(marked), ...rest };
    },
  };
}
