/** How long a message is shown, and how long what it tells of can be undone, in milliseconds. */
export const MESSAGE_TIME = 10_000;
