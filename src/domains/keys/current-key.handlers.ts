import type { Handlers } from "../../contract/handler.ts";
import type { currentKeyOperations } from "./current-key.operations.ts";
import type { CurrentKey } from "./current-key.ts";

export function currentKeyHandlers(current: CurrentKey): Handlers<typeof currentKeyOperations> {
  return {
    *getCurrentKey({ caller }) {
      return { body: yield* current.of(caller) };
    },
  };
}
