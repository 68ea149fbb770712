import { type Static, Type } from "typebox";
import { defineError } from "../../contract/errors.ts";
import { defineOperation, type Tag } from "../../contract/operation.ts";
import { Int32, LargeCount, Timestamp } from "../../contract/schemas.ts";
import { DAY_SECONDS } from "../../timing/clock.ts";

const sandbox: Tag = {
  name: "sandbox",
  description: "The account's sandbox: its contents, its clock and its reset. For test keys.",
  stability: "experimental",
};

export const testKeyRequired = defineError({
  code: "test_key_required",
  status: 403,
  meaning: "The operation works only on sandboxes, and the API key is live. Nothing was done.",
});
export const clockTooFarAhead = defineError({
  code: "clock_too_far_ahead",
  status: 409,
  meaning: "The sandbox's clock would be more than 100 years ahead. It was not advanced.",
});

/** The maximum by which one request can advance the clock, in seconds: a year. */
const MAX_STEP = 366 * DAY_SECONDS;

const SandboxClock = Type.Object(
  {
    now: Timestamp({ description: "The time in the sandbox." }),
    ahead: LargeCount({
      description: "How many seconds the clock is ahead of real time.",
      minimum: 0,
      examples: [900],
    }),
  },
  { title: "SandboxClock", description: "The clock of a sandbox." },
);
export type SandboxClock = Static<typeof SandboxClock>;

const count = (description: string) => LargeCount({ description, minimum: 0, examples: [6] });

const WaitingKind = Type.Enum(["reservation", "webhook_attempt"], {
  title: "SandboxWaitingKind",
  type: "string",
  description: "What is due later: the end of a `reservation`, or a retry of a webhook message (`webhook_attempt`).",
});

export type WaitingKind = Static<typeof WaitingKind>;

const Waiting = Type.Object(
  {
    kind: WaitingKind,
    count: Int32({ description: "How many are waiting, counted up to 10,000.", minimum: 1, examples: [2] }),
    next: Timestamp({ description: "When the first one is due, by the sandbox's clock." }),
  },
  { title: "SandboxWaiting", description: "Tasks that run when the clock reaches their time." },
);

const Sandbox = Type.Object(
  {
    clock: SandboxClock,
    animals: count("Number of animals."),
    categories: count("Number of categories."),
    orders: count("Number of orders, in any state."),
    waiting: Type.Array(Waiting, { description: "One entry for each kind of waiting task.", maxItems: 10 }),
  },
  { title: "Sandbox", description: "A sandbox." },
);
export type Sandbox = Static<typeof Sandbox>;

const clock: SandboxClock = { now: "2026-11-21T12:15:00.000Z", ahead: 900 };
const inRealTime: SandboxClock = { now: "2026-11-21T12:00:00.000Z", ahead: 0 };

const common = { tag: sandbox, separateQuota: "sandbox" } as const;

const getSandbox = defineOperation({
  ...common,
  name: "getSandbox",
  method: "GET",
  path: "/sandbox",
  summary: "Get the sandbox",
  description: "Returns the contents of the sandbox, its clock, and the tasks that wait for the clock.",
  response: {
    status: 200,
    description: "The sandbox.",
    schema: Sandbox,
    examples: {
      "With an open order": {
        clock: inRealTime,
        animals: 6,
        categories: 4,
        orders: 1,
        waiting: [{ kind: "reservation", count: 1, next: "2026-11-21T12:15:00.000Z" }],
      },
      "Just reset": { clock, animals: 0, categories: 0, orders: 0, waiting: [] },
    },
  },
  errors: [testKeyRequired],
});

const fastForward = defineOperation({
  ...common,
  name: "fastForwardSandbox",
  method: "POST",
  path: "/sandbox/fast-forward",
  summary: "Advance the clock",
  description:
    "Advances the sandbox's clock, which sets the times of its resources, reservations, limits, bans and stored " +
    "responses. Tasks that become due, up to 10,000 of each kind, run with their events before the response. Webhooks " +
    "that are due are sent right after it. `X-RateLimit-Reset`, `Retry-After`, `Sunset` and key expiry stay in real time.",
  body: {
    schema: Type.Object(
      {
        seconds: Int32({
          description: "How many seconds to advance it.",
          minimum: 1,
          maximum: MAX_STEP,
          examples: [900],
        }),
      },
      { title: "FastForward", description: "How far to advance the clock.", additionalProperties: false },
    ),
    examples: { "A quarter of an hour": { seconds: 900 } },
  },
  emits: ["order.expired", "pet.updated"],
  response: {
    status: 200,
    description: "The clock.",
    schema: SandboxClock,
    examples: { "A quarter of an hour": clock },
  },
  errors: [testKeyRequired, clockTooFarAhead],
});

const reset = defineOperation({
  ...common,
  name: "resetSandbox",
  method: "POST",
  path: "/sandbox/reset",
  summary: "Reset the sandbox",
  description:
    "Deletes everything in the sandbox, including events, request records, webhook deliveries and stored responses. Ids " +
    "start at 1 again, and old cursors are rejected. Keys, webhook endpoints, limits, usage, bans and the clock stay.",
  body: {
    schema: Type.Object(
      {
        animals: Type.Enum(["none", "samples"], {
          title: "SandboxPets",
          type: "string",
          description: "The new contents of the sandbox: nothing, or six animals in four categories.",
        }),
      },
      { title: "SandboxReset", description: "How to reset the sandbox.", additionalProperties: false },
    ),
    examples: { "With sample animals": { animals: "samples" }, Empty: { animals: "none" } },
  },
  emits: ["category.created", "pet.created"], // of the sample animals, as the first events of a new log
  response: {
    status: 200,
    description: "The clock.",
    schema: SandboxClock,
    examples: { Clock: clock },
  },
  errors: [testKeyRequired],
});

export const sandboxOperations = [getSandbox, fastForward, reset] as const;
