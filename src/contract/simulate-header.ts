import { Type } from "typebox";

/** The header with which a request with a test key asks for an error, a delay or a closed connection. */
export const SIMULATE = "Petstore-Simulate";
/** Its value that asks for a closed connection instead of a response. */
export const DISCONNECT = "disconnect";
/** How the message of a simulated error begins. */
export const SIMULATED = "Simulated: ";
/** The longest delay that a request can ask for, in milliseconds. */
export const MAX_DELAY = 10_000;
/** The maximum number of responses of one account that a process delays at the same time. */
export const MAX_DELAYED = 20;

/** The value of the header. */
export const Simulate = Type.String({
  description:
    "For test keys: fail with this error code of the operation, close the connection (`disconnect`), or delay the " +
    `response (\`delay=MILLISECONDS\`, up to ${MAX_DELAY}).`,
  maxLength: 200,
  pattern: "^[a-z0-9_]+(?:=[0-9]{1,5})?(?:, ?[a-z0-9_]+(?:=[0-9]{1,5})?)?$",
});

/** Values of the header. The first has no effect, because many tools send the first example by default. */
export const simulateExamples = {
  "No effect": "delay=0",
  "An error": "storage_unavailable",
  "A late error": "delay=2000, overloaded",
  "No response": DISCONNECT,
} as const;
