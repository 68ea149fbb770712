import type { Handlers } from "../../contract/operation.ts";
import type { Clock } from "../../timing/clock.ts";
import type { usageOperations } from "./usage.operations.ts";
import type { UsageStore } from "./usage.store.ts";
import type { UsageCounter } from "./usage-counter.ts";

export function usageHandlers(
  counter: UsageCounter,
  store: UsageStore,
  clock: Clock,
): Handlers<typeof usageOperations> {
  return {
    getUsage: ({ caller, query: { granularity, limit }, after }) =>
      store.page(caller, granularity, {
        before: after,
        limit,
        now: clock.now(),
        unsaved: () => counter.unsaved(caller),
      }),
  };
}
