import { type Static, type TSchema, Type } from "typebox";
import { Choice, DateTime, described, Int64, removable, Text, Timestamp } from "../../contract/schemas.ts";
import { metadata, metadataPatch, newMetadata } from "../metadata/metadata.schemas.ts";
import { Price, PricePatch } from "../shops/price.schemas.ts";

export const StoreOrderStatus = Choice(["placed", "confirmed", "cancelled", "expired", "returned"], {
  title: "StoreOrderStatus",
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

export const categoryId = Int64({ description: "The animal's category when it was sold.", examples: [1n] });
export const keyId = Type.String({
  description: "The identifier of the key. Absent if it was no key of yours.",
  maxLength: 64,
  examples: ["key_5fQ0c2mN8xWbT1Lz"],
});
export const seller = Text({
  description: "Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order.",
  minLength: 1,
  maxLength: 100,
  examples: ["Maria"],
});
const Confirmer = Type.Object(
  {
    keyId: Type.Optional(keyId),
    name: Type.String({ description: "The name of the key.", maxLength: 100, examples: ["till"] }),
  },
  { title: "Seller", description: "The key that confirmed an order." },
);

const petId = Int64({ description: "Identifier of the animal.", examples: [1n] });
export const StoreOrder = Type.Object(
  {
    id: Int64({ description: "Unique identifier assigned by the service.", examples: [1n] }),
    petId,
    reference: Type.Optional(reference),
    status: StoreOrderStatus,
    price: Type.Optional(described(Price, "What the animal is sold for.")),
    seller: Type.Optional(seller),
    placedAt: Timestamp({ description: "When the order was placed." }),
    expiresAt: Timestamp({
      description: "When the reservation ends if the order is neither confirmed nor cancelled.",
    }),
    confirmedAt: Type.Optional(Timestamp({ description: "When the order was confirmed." })),
    confirmedBy: Type.Optional(Confirmer),
    petName: Type.Optional(
      Type.String({ description: "The animal's name when it was sold.", maxLength: 255, examples: ["Rex"] }),
    ),
    categoryId: Type.Optional(categoryId),
    cancelledAt: Type.Optional(Timestamp({ description: "When the order was cancelled." })),
    returnedAt: Type.Optional(Timestamp({ description: "When the animal was returned." })),
    metadata,
  },
  { title: "StoreOrder", description: "An order for one animal." },
);
export type StoreOrder = Static<typeof StoreOrder>;

/** The fields that a client sets. The compiler asks for each of them where an order is sent. */
type SentFields = Exclude<
  keyof StoreOrder,
  "id" | "status" | "placedAt" | "confirmedAt" | "confirmedBy" | "petName" | "categoryId" | "cancelledAt" | "returnedAt"
>;

/** The longest reservation, in days. */
export const MAX_RESERVATION_DAYS = 90;
const endMeaning = `When the reservation ends: in the future, and at most ${MAX_RESERVATION_DAYS} days ahead.`;
const expiresAt = DateTime({ description: endMeaning });

export const NewStoreOrder = Type.Object(
  {
    petId,
    reference: Type.Optional(reference),
    price: Type.Optional(
      described(PricePatch, "What the animal is sold for. Default: the price that it has; `null` for none."),
    ),
    seller: Type.Optional(seller),
    expiresAt: Type.Optional({
      ...expiresAt,
      description: `${endMeaning} By default, the service decides. Not allowed with \`confirm\`.`,
    }),
    confirm: Type.Optional(
      Type.Boolean({ description: "True to sell the animal at once: the order is confirmed in the same request." }),
    ),
    metadata: newMetadata,
  } satisfies Readonly<Record<SentFields | "confirm", TSchema>>,
  { title: "NewStoreOrder", description: "An order to place.", additionalProperties: false },
);
export type NewStoreOrder = Static<typeof NewStoreOrder>;

export const StoreOrderConfirmation = Type.Object(
  {
    price: Type.Optional(described(PricePatch, "Replaces the price of the order; `null` removes it.")),
    seller: Type.Optional({ ...seller, description: "Replaces the seller of the order." }),
  },
  {
    title: "StoreOrderConfirmation",
    description: "How the animal is sold.",
    additionalProperties: false,
  },
);

export type StoreOrderConfirmation = Static<typeof StoreOrderConfirmation>;

const ofSale = Type.Pick(StoreOrder, ["seller", "confirmedAt", "confirmedBy", "petName", "categoryId"]);
/** An order that was just confirmed. */
export const ConfirmedStoreOrder = Type.Object(
  {
    ...StoreOrder.properties,
    status: Type.Literal("confirmed", { enum: ["confirmed"] }),
    ...Type.Required(ofSale).properties,
  },
  { title: "ConfirmedStoreOrder", description: "An order that was just confirmed." },
);
export type ConfirmedStoreOrder = Static<typeof ConfirmedStoreOrder>;

export const StoreOrderPatch = Type.Object(
  {
    reference: removable(reference, "Your own name for the order; `null` removes it."),
    expiresAt: Type.Optional(expiresAt),
    price: Type.Optional(described(PricePatch, "The price from now on, also after the sale; `null` removes it.")),
    metadata: metadataPatch,
  } satisfies Readonly<Record<Exclude<SentFields, "petId" | "seller">, TSchema>>,
  {
    title: "StoreOrderPatch",
    description: "The fields of an order to change (JSON Merge Patch, RFC 7396).",
    additionalProperties: false,
  },
);
export type StoreOrderPatch = Static<typeof StoreOrderPatch>;

export const StoreOrders = Type.Array(StoreOrder, {
  title: "StoreOrders",
  description: "Orders, in the order that was asked for.",
});
