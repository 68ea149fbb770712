import { type Static, Type } from "typebox";
import { waitingKinds } from "../../contract/due-times.ts";
import { defineError } from "../../contract/errors.ts";
import { defineOperation, type Tag } from "../../contract/operation.ts";
import { Choice, Int32, LargeCount, MEANING, Timestamp } from "../../contract/schemas.ts";
import { DAY_SECONDS } from "../../timing/clock.ts";

const sandbox: Tag = {
  name: "sandbox",
  description: "The account's sandbox: its contents, what waits in it, and its reset. For test keys.",
  stability: "experimental",
};

export const testKeyRequired = defineError({
  code: "test_key_required",
  status: 403,
  meaning: "The operation works only on sandboxes, and the API key is live. Nothing was done.",
});

/** The maximum of one fast-forward, in seconds: a year. */
const MAX_STEP = 366 * DAY_SECONDS;

const count = (description: string) => LargeCount({ description, minimum: 0, examples: [6] });

const WaitingKind = Choice(waitingKinds, {
  title: "SandboxWaitingKind",
  description:
    "What is due later: the end of a `reservation`, of a `stored_response` to an `Idempotency-Key`, or of a replaced " +
    "`webhook_secret`; a retry of a webhook message (`webhook_attempt`); or that a failing endpoint is disabled " +
    "(`endpoint_disabling`).",
});

const Waiting = Type.Object(
  {
    kind: WaitingKind,
    count: Int32({ description: "How many are waiting, counted up to 10,000.", minimum: 1, examples: [2] }),
    next: Timestamp({ description: "When the first one is due." }),
  },
  { title: "SandboxWaiting", description: "What is due later, of one kind." },
);

const Sandbox = Type.Object(
  {
    animals: count("Number of animals."),
    categories: count("Number of categories."),
    orders: count("Number of orders, in any state."),
    waiting: Type.Array(Waiting, { description: "One entry for each kind of which something waits.", maxItems: 10 }),
  },
  { title: "Sandbox", description: "A sandbox." },
);
export type Sandbox = Static<typeof Sandbox>;

const examples = {
  "With an open order": {
    animals: 6,
    categories: 4,
    orders: 1,
    waiting: [{ kind: "reservation", count: 1, next: "2026-11-21T12:15:00.000Z" }],
  },
  "With nothing that waits": { animals: 6, categories: 4, orders: 0, waiting: [] },
} satisfies Record<string, Sandbox>;
/** The response of all three. */
const response = { status: 200, description: "The sandbox.", schema: Sandbox, examples } as const;

const getSandbox = defineOperation({
  tag: sandbox,
  name: "getSandbox",
  method: "GET",
  path: "/sandbox",
  summary: "Get the sandbox",
  description: "Returns the contents of the sandbox, and what waits in it.",
  response,
  errors: [testKeyRequired],
});

const fastForward = defineOperation({
  tag: sandbox,
  separateQuota: "sandbox",
  name: "fastForwardSandbox",
  method: "POST",
  path: "/sandbox/fast-forward",
  summary: "Fast-forward the sandbox",
  description:
    "Brings all that waits in the sandbox nearer: see `SandboxWaitingKind`. Reservations that are then due, up to 10,000, " +
    "have ended before the response. Webhooks that are then due are sent right after it. No clock changes: events have the " +
    "real time, and limits, bans and the end of an API key stay. An order shows its old `expiresAt` until it expires.",
  body: {
    schema: Type.Object(
      {
        seconds: Int32({
          description: "By how many seconds.",
          minimum: 1,
          maximum: MAX_STEP,
          [MEANING]: "seconds, such as 86400 for a day",
          examples: [900],
        }),
      },
      { title: "FastForward", description: "By how much what waits is to be nearer.", additionalProperties: false },
    ),
    examples: { "A quarter of an hour": { seconds: 900 } },
  },
  agentTools: {
    fast_forward_sandbox: { does: "acts", takes: ["seconds"], gives: "sandbox", text: "Bring nearer all that waits." },
  },
  emits: ["order.expired", "pet.updated"],
  response: { ...response, entityTag: true },
  errors: [testKeyRequired],
});

const reset = defineOperation({
  tag: sandbox,
  separateQuota: "sandbox",
  name: "resetSandbox",
  method: "POST",
  path: "/sandbox/reset",
  summary: "Reset the sandbox",
  description:
    "Deletes everything in the sandbox, including events, request records, webhook deliveries and stored responses. Ids " +
    "start at 1 again, and old cursors are rejected. Keys, webhook endpoints, limits, usage and bans stay.",
  body: {
    schema: Type.Object(
      {
        animals: Choice(["none", "samples"], {
          title: "SandboxPets",
          description:
            "The new contents of the sandbox: nothing, or 24 animals in four categories, with sales of the last 14 days.",
        }),
      },
      { title: "SandboxReset", description: "How to reset the sandbox.", additionalProperties: false },
    ),
    examples: { "With sample animals": { animals: "samples" }, Empty: { animals: "none" } },
  },
  // Of the samples, as the first events of a new log.
  emits: ["category.created", "pet.created", "order.placed", "order.confirmed", "pet.updated", "order.returned"],
  response: { ...response, entityTag: true },
  errors: [testKeyRequired],
});

export const sandboxOperations = [getSandbox, fastForward, reset] as const;
