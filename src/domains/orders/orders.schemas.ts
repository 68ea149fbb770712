import { type Static, Type } from "typebox";
import { Int64, Text, Timestamp } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";

export const StoreOrderStatus = Type.Enum(["placed", "confirmed", "cancelled", "expired", "returned"], {
  title: "StoreOrderStatus",
  type: "string",
  description:
    "State of an order. `placed` reserves the animal and becomes `confirmed`, `cancelled` or, when the reservation " +
    "ends, `expired`. `confirmed` can become `returned`.",
});
export type StoreOrderStatus = Static<typeof StoreOrderStatus>;

export const reference = Text({
  description: "Your own name for the order, such as a receipt number. Stored unchanged.",
  minLength: 1,
  maxLength: 255,
  examples: ["receipt 2026-117"],
});

const newOrderProperties = {
  petId: Int64({ description: "Identifier of the animal.", examples: [1n] }),
  reference: Type.Optional(reference),
};

export const NewStoreOrder = Type.Object(
  { ...newOrderProperties, metadata: newMetadata },
  { title: "NewStoreOrder", description: "An order to place.", additionalProperties: false },
);
export type NewStoreOrder = Static<typeof NewStoreOrder>;

export const StoreOrder = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service.", examples: [1n] }),
    ...newOrderProperties,
    status: StoreOrderStatus,
    placedAt: Timestamp({ description: "When the order was placed." }),
    expiresAt: Timestamp({
      description: "When the reservation ends if the order is neither confirmed nor cancelled.",
    }),
    confirmedAt: Type.Optional(Timestamp({ description: "When the order was confirmed." })),
    cancelledAt: Type.Optional(Timestamp({ description: "When the order was cancelled." })),
    returnedAt: Type.Optional(Timestamp({ description: "When the animal was returned." })),
    metadata,
  },
  { title: "StoreOrder", description: "An order for one animal." },
);
export type StoreOrder = Static<typeof StoreOrder>;

export const StoreOrderPatch = Type.Object(
  { metadata: metadataPatch },
  {
    title: "StoreOrderPatch",
    description: "The fields of an order to change (JSON Merge Patch, RFC 7396).",
    additionalProperties: false,
  },
);
export type StoreOrderPatch = Static<typeof StoreOrderPatch>;

export const StoreOrders = Type.Array(StoreOrder, { title: "StoreOrders", description: "Orders, sorted by `id`." });
