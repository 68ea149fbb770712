import { eventsOf } from "../events/new-event.ts";
import { StoreOrder } from "./orders.schemas.ts";

/** Makes the events of an order. */
export const orderEvent = eventsOf<StoreOrder>(StoreOrder, ({ id, petId }) => ({ petId, subjectId: String(id) }));
