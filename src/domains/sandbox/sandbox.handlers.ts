import type { Caller } from "../../contract/caller.ts";
import { failure } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import { authorOf } from "../events/publish.ts";
import { type sandboxOperations, testKeyRequired } from "./sandbox.operations.ts";
import type { SandboxStore } from "./sandbox.store.ts";

export function sandboxHandlers(sandboxes: SandboxStore): Handlers<typeof sandboxOperations> {
  return {
    *getSandbox({ caller }) {
      return isLive(caller) ? refused : { body: yield* sandboxes.get(caller) };
    },

    fastForwardSandbox: {
      *change({ caller, body: { seconds } }) {
        if (isLive(caller)) return refused;
        yield* sandboxes.fastForward(caller, seconds * 1000);
        return {};
      },
      conclude: ({ caller, body: { seconds } }) => sandboxes.concludeFastForward(caller, seconds * 1000),
    },

    resetSandbox: {
      *change({ caller, requestId, body: { animals } }) {
        if (isLive(caller)) return refused;
        return { shop: yield* sandboxes.reset(caller, authorOf(caller, requestId), animals) };
      },
      conclude: ({ caller }) => sandboxes.concludeReset(caller),
    },
  };
}

function isLive({ mode }: Caller): boolean {
  return mode === "live";
}

const refused = failure(testKeyRequired, "The operation works on sandboxes. Use a test key; the key sent is live.");
