import { Watchable } from "../watchable.ts";

/** How far the shop's clock is ahead of real time, in milliseconds. Only a sandbox's clock can be. */
export const clockOffset = new Watchable(0);
