import { type Static, Type } from "typebox";
import { defineError } from "../../contract/errors.ts";
import { defineOperation, type Tag } from "../../contract/operation.ts";
import { Int32, LargeCount, Timestamp } from "../../contract/schemas.ts";

const sandbox: Tag = {
  name: "sandbox",
  description: "The sandbox of the account: its contents, its clock, and its reset. For test keys.",
  stability: "experimental",
};

export const testKeyRequired = defineError({
  code: "test_key_required",
  status: 403,
  meaning: "The operation works on sandboxes, and the API key is live. Nothing was done.",
});
export const clockTooFarAhead = defineError({
  code: "clock_too_far_ahead",
  status: 409,
  meaning: "The clock of the sandbox would be more than a hundred years ahead. It was not advanced.",
});

const DAY = 86_400;
/** The most that one request can advance the clock, in seconds: a year. */
const MAX_STEP = 366 * DAY;

const SandboxClock = Type.Object(
  {
    now: Timestamp({ description: "The time in the sandbox." }),
    ahead: LargeCount({ description: "How many seconds it is ahead of real time.", minimum: 0, examples: [900] }),
  },
  { title: "SandboxClock", description: "The clock of a sandbox." },
);
export type SandboxClock = Static<typeof SandboxClock>;

const count = (description: string) => LargeCount({ description, minimum: 0, examples: [6] });

const WaitingKind = Type.Enum(["reservation"], {
  title: "SandboxWaitingKind",
  type: "string",
  description: "What waits for the clock: the end of a `reservation`.",
});

export type WaitingKind = Static<typeof WaitingKind>;

const Waiting = Type.Object(
  {
    kind: WaitingKind,
    count: Int32({ description: "How many wait. No more than 10,000 are counted.", minimum: 1, examples: [2] }),
    next: Timestamp({ description: "When the first of them is due, by the sandbox's clock." }),
  },
  { title: "SandboxWaiting", description: "What happens when the clock reaches its time." },
);

const Sandbox = Type.Object(
  {
    clock: SandboxClock,
    animals: count("Number of animals."),
    categories: count("Number of categories."),
    orders: count("Number of orders, in any state."),
    waiting: Type.Array(Waiting, { description: "One entry for each kind that has something waiting.", maxItems: 10 }),
  },
  { title: "Sandbox", description: "A sandbox." },
);
export type Sandbox = Static<typeof Sandbox>;

const clock: SandboxClock = { now: "2026-11-21T12:15:00.000Z", ahead: 900 };
const inRealTime: SandboxClock = { now: "2026-11-21T12:00:00.000Z", ahead: 0 };

const common = { tag: sandbox, quota: "sandbox" } as const;

const getSandbox = defineOperation({
  ...common,
  name: "getSandbox",
  method: "GET",
  path: "/sandbox",
  summary: "Get the sandbox",
  description: "Returns what the sandbox contains, its clock, and what is waiting for the clock.",
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
    "Advances the sandbox's clock. The times of its resources, reservations, limits, bans and stored responses follow " +
    "this clock. What becomes due, up to 10,000 of each kind, happens before the response, with its events. Webhooks " +
    "that are due are sent right after the response. Headers, key expiry and sunset stay in real time.",
  body: {
    schema: Type.Object(
      { seconds: Int32({ description: "How far to advance it.", minimum: 1, maximum: MAX_STEP, examples: [900] }) },
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
    "Deletes all animals, categories, orders and events of the sandbox. Ids start at 1 again, and cursors from before " +
    "are refused. Keys, webhook endpoints, limits, bans and the clock stay. The log begins with the sample animals.",
  body: {
    schema: Type.Object(
      {
        animals: Type.Enum(["none", "samples"], {
          title: "SandboxAnimals",
          type: "string",
          description: "What the sandbox contains afterwards: nothing, or six animals in four categories.",
        }),
      },
      { title: "SandboxReset", description: "How to reset the sandbox.", additionalProperties: false },
    ),
    examples: { "With sample animals": { animals: "samples" }, Empty: { animals: "none" } },
  },
  emits: ["category.created", "pet.created"], // of the sample animals, as the first events of a new log
  response: {
    status: 200,
    description: "The clock, which the reset does not change.",
    schema: SandboxClock,
    examples: { Clock: clock },
  },
  errors: [testKeyRequired],
});

export const sandboxOperations = [getSandbox, fastForward, reset] as const;
