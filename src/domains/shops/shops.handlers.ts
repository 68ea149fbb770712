import { type Handlers, prepared } from "../../contract/handler.ts";
import type { Clock } from "../../timing/clock.ts";
import { authorOf } from "../events/publish.ts";
import type { Counted, ShopSettingsStore } from "./shop-settings.store.ts";
import type { shopOperations } from "./shops.operations.ts";
import type { ReadSummary } from "./summary.store.ts";

type Operations = ReturnType<typeof shopOperations>;

export function shopHandlers(clock: Clock, stored: ShopSettingsStore, summary: ReadSummary): Handlers<Operations> {
  return {
    updateShop: prepared<Extract<Operations[number], { name: "updateShop" }>, Counted | undefined>(
      function* ({ caller: { shop }, body: { timeZone } }) {
        return timeZone === undefined ? undefined : yield* stored.count(shop, timeZone);
      },
      function* ({ caller, requestId, body }, counted) {
        yield* stored.update(authorOf(caller, requestId), caller.accountId, body, counted);
        return { body: yield* summary(caller.shop, clock.now()) };
      },
    ),

    *getShop({ caller }) {
      return { body: yield* summary(caller.shop, clock.now()) };
    },
  };
}
