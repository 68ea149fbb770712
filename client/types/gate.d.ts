// Generated from client/src by `npm run derive`.

import type { Clock } from "./clock.js";
import { type Outcome } from "./outcome.js";
/**
 * Admits the requests of one client in order, as the limits of its key allow. The first request learns the limits. The
 * last requests of a window are spread over its remaining time. Once it is used up, or after a 429 unless it is about
 * streams, all requests wait; those that may not wait so long are refused.
 */
export type Gate = (operation: string, deadline: number, signal: AbortSignal, send: () => Promise<Outcome>) => Promise<Outcome>;
/**
 * Opens a gate. `separateQuota` is empty for calls that count in the limits of the shop. Other calls cannot learn their
 * quota: responses show the limits of the shop.
 */
export declare function openGate(clock: Clock, separateQuota: string): Gate;
