import { invalidate } from "../service/query.ts";

/** Prefix of the query keys of responses about webhook endpoints. */
export const WEBHOOKS = "webhooks";
/** When the deliveries are read again after a message was requested, in milliseconds. */
const REFRESH_DELAYS = [1_000, 3_000, 8_000, 20_000, 60_000];

/** Reads the deliveries again when the requested ones have probably been made. */
export function refreshDeliveriesSoon(): void {
  for (const delay of REFRESH_DELAYS) setTimeout(() => invalidate(WEBHOOKS), delay);
}
