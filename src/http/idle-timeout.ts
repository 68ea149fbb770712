/** Seconds after which a connection that neither sends nor receives is closed. An open stream has no limit. */
export const IDLE_TIMEOUT = 30;
