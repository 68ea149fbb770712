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
