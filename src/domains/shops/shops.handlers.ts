import type { Handlers } from "../../contract/handler.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import type { shopOperations } from "./shops.operations.ts";
import type { ShopSummaries } from "./summary.store.ts";

export function shopHandlers(summaries: ShopSummaries): Handlers<typeof shopOperations> {
  return {
    getShop: ({ caller }) => whenReady(summaries.get(caller.shop), (body) => ({ body })),
  };
}
