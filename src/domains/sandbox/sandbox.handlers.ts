import type { Caller } from "../../contract/caller.ts";
import { failure } from "../../contract/errors.ts";
import { type Handlers, successOr } from "../../contract/handler.ts";
import { authorOf } from "../events/author.ts";
import { clockTooFarAhead, type sandboxOperations, testKeyRequired } from "./sandbox.operations.ts";
import type { SandboxStore } from "./sandbox.store.ts";

export function sandboxHandlers(sandboxes: SandboxStore): Handlers<typeof sandboxOperations> {
  return {
    *getSandbox({ caller }) {
      return isLive(caller) ? refused : { body: yield* sandboxes.get(caller) };
    },

    fastForwardSandbox: {
      *change({ caller, body: { seconds } }) {
        if (isLive(caller)) return refused;
        return successOr(yield* sandboxes.advance(caller, seconds * 1000), {
          "too far": () => failure(clockTooFarAhead, "The clock can be at most 100 years ahead of real time."),
        });
      },
      settle: ({ caller }) => sandboxes.settle(caller),
    },

    resetSandbox: {
      *change({ caller, requestId, body: { animals } }) {
        if (isLive(caller)) return refused;
        const { shop, clock } = yield* sandboxes.reset(caller, authorOf(caller, requestId), animals);
        return { body: clock, shop };
      },
      settle: () => sandboxes.resetPropagated(),
    },
  };
}

function isLive({ mode }: Caller): boolean {
  return mode === "live";
}

const refused = failure(testKeyRequired, "The operation works on sandboxes. Use a test key; the key sent is live.");
