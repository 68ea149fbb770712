import { Type } from "typebox";

/** The header by which a request with a test key asks for an error, a delay, or no response at all. */
export const SIMULATE = "Petstore-Simulate";
/** Its item that asks for the end of the connection in place of a response. */
export const DISCONNECT = "disconnect";
/** The longest delay that it can ask for, in milliseconds. */
export const MAX_DELAY = 10_000;
/** Responses of one account that a process delays at once. */
export const MAX_DELAYED = 20;

/** The value of the header. */
export const Simulate = Type.String({
  description:
    "For test keys: return this error code of the operation and do nothing else, `disconnect`, or hold the response " +
    `back (\`delay=MILLISECONDS\`, up to ${MAX_DELAY}).`,
  maxLength: 200,
  pattern: "^[a-z0-9_]+(?:=[0-9]{1,5})?(?:, ?[a-z0-9_]+(?:=[0-9]{1,5})?)?$",
});

/** Values of the header. The first has no effect, because many tools send the first example without being asked to. */
export const simulateExamples = {
  "No effect": "delay=0",
  "An error": "storage_unavailable",
  "A late error": "delay=2000, overloaded",
  "No response": DISCONNECT,
} as const;
