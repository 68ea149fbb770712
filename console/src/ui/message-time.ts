/** How long a message is shown and its action can be undone, in milliseconds. */
export const MESSAGE_TIME = 10_000;
