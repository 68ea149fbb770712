import type { Handlers } from "../../contract/handler.ts";
import { whenReady } from "../../timing/maybe-promise.ts";
import type { currentKeyOperations } from "./current-key.operations.ts";
import type { CurrentKey } from "./current-key.ts";

export function currentKeyHandlers(current: CurrentKey): Handlers<typeof currentKeyOperations> {
  return {
    getCurrentKey: ({ caller }) => whenReady(current.of(caller), (body) => ({ body })),
  };
}
