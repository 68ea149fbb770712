import type { EventType } from "../../contract/operation.ts";
import { deliveryOperations } from "./deliveries/deliveries.operations.ts";
import { endpointOperations } from "./endpoints/endpoints.operations.ts";

/** The operations on webhooks, for these types of events. */
export function webhookOperations(types: readonly EventType[]) {
  return [...endpointOperations(types), ...deliveryOperations] as const;
}
