import type { Answer } from "./answer.js";
import type { Clock } from "./clock.js";
/**
 * Lets the requests of one key through, first come, first served, as its limits allow: a first one to learn them, then
 * as many as remain, the last ones spread over what is left of the window. After a 429 all wait together.
 */
export type Gate = (operation: string, deadline: number, signal: AbortSignal, send: () => Promise<Answer>) => Promise<Answer>;
export declare function openGate(clock: Clock): Gate;
