import type { OnceOptions, Petstore, WebhookDelivery, WebhookEndpoint } from "petstore-client";
import { invalidate, type QueryResult, useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { say } from "../ui/toasts.tsx";

/** Prefix of the query keys of responses about webhook endpoints. */
export const WEBHOOKS = "webhooks";
/** When the deliveries are read again after a message was requested, in milliseconds. */
const REFRESH_DELAYS = [1_000, 3_000, 8_000, 20_000, 60_000];

export function useEndpoint(id: string): QueryResult<WebhookEndpoint> {
  const { petstore } = useSession();
  return useQuery<WebhookEndpoint>(`${WEBHOOKS}/${id}`, () => petstore.getWebhookEndpoint(id));
}

/** Reads the deliveries again when the requested ones have probably been made. */
export function refreshDeliveriesSoon(): void {
  for (const delay of REFRESH_DELAYS) setTimeout(() => invalidate(WEBHOOKS), delay);
}

/** Sends the message of a delivery again. */
export async function redeliver(
  petstore: Petstore,
  endpointId: string,
  { id }: WebhookDelivery,
  once: OnceOptions,
): Promise<void> {
  await petstore.redeliverWebhooks(endpointId, { deliveryId: id }, once);
  const { state } = await petstore.getWebhookEndpoint(endpointId);
  say(state === "enabled" ? "The message is queued" : `The message is queued until you resume the ${state} endpoint`);
  refreshDeliveriesSoon();
}
