// Generated from the contract by `npm run derive`.

import type { FieldDescription, Filter } from "../contract.ts";

export type OperationName =
  | "listPets"
  | "createPet"
  | "getPet"
  | "updatePet"
  | "deletePet"
  | "importPets"
  | "deletePets"
  | "listCategories"
  | "createCategory"
  | "getCategory"
  | "updateCategory"
  | "deleteCategory"
  | "listStoreOrders"
  | "placeStoreOrder"
  | "getStoreOrder"
  | "updateStoreOrder"
  | "confirmStoreOrder"
  | "cancelStoreOrder"
  | "returnStoreOrder"
  | "getSales"
  | "getSandbox"
  | "fastForwardSandbox"
  | "resetSandbox"
  | "getShop"
  | "updateShop"
  | "getCurrentKey"
  | "listKeys"
  | "createKey"
  | "updateKey"
  | "rotateKey"
  | "revokeKey"
  | "getUsage"
  | "listRequests"
  | "getRequest"
  | "listEvents"
  | "getEvent"
  | "streamEvents"
  | "listWebhookEndpoints"
  | "createWebhookEndpoint"
  | "getWebhookEndpoint"
  | "updateWebhookEndpoint"
  | "deleteWebhookEndpoint"
  | "rotateWebhookSecret"
  | "testWebhookEndpoint"
  | "redeliverWebhooks"
  | "listWebhookDeliveries"
  | "getWebhookDelivery";

/** The operations by the scopes that a key must have, separated by spaces. All others need `write`. */
export const scopes: Readonly<Record<string, readonly OperationName[]>> = {
  read: [
    "listPets",
    "getPet",
    "listCategories",
    "getCategory",
    "listStoreOrders",
    "getStoreOrder",
    "getSales",
    "getSandbox",
    "getShop",
    "getUsage",
    "listRequests",
    "getRequest",
    "listEvents",
    "getEvent",
    "streamEvents",
  ],
  admin: [
    "updateShop",
    "listKeys",
    "createKey",
    "updateKey",
    "rotateKey",
    "revokeKey",
    "listWebhookEndpoints",
    "getWebhookEndpoint",
    "deleteWebhookEndpoint",
    "rotateWebhookSecret",
    "testWebhookEndpoint",
    "listWebhookDeliveries",
    "getWebhookDelivery",
  ],
  "": ["getCurrentKey"],
  "admin read": ["createWebhookEndpoint", "updateWebhookEndpoint", "redeliverWebhooks"],
};

/** What the service can simulate for a request with `PATCH /pets/{petId}`. */
export const simulations: readonly string[] = [
  "pet_not_found",
  "precondition_failed",
  "invalid_request",
  "invalid_transition",
  "pet_has_open_order",
  "reference_taken",
  "missing_api_key",
  "invalid_api_key",
  "account_suspended",
  "insufficient_scope",
  "request_timeout",
  "payload_too_large",
  "sandbox_was_reset",
  "unsupported_media_type",
  "idempotency_key_in_use",
  "idempotency_key_reused",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "overloaded",
  "storage_unavailable",
  "disconnect",
];

/** How long the text of a search may be. */
export const longestSearch = 64;

export const listPetsQuery: readonly Filter[] = [
  { name: "status", choices: ["available", "pending", "sold"] },
  { name: "sort", choices: ["id", "-id", "name", "-name"] },
];
export const createPetBody: readonly FieldDescription[] = [
  { name: "name", label: "Name", isRequired: true, maxLength: 255 },
  { name: "categoryId", label: "Category", kind: "id", isRequired: true },
  { name: "status", label: "Status", kind: "choice", choices: ["available", "pending", "sold"] },
  {
    name: "reference",
    label: "Reference",
    hint: "Your own number or name, such as that of a chip or receipt.",
    maxLength: 64,
  },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const updatePetBody: readonly FieldDescription[] = [
  { name: "name", label: "Name", maxLength: 255 },
  { name: "categoryId", label: "Category", kind: "id" },
  { name: "status", label: "Status", kind: "choice", choices: ["available", "pending", "sold"] },
  {
    name: "reference",
    label: "Reference",
    hint: "Your own number or name, such as that of a chip or receipt.",
    isRemovable: true,
    maxLength: 64,
  },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const importPetsMost = 500;
export const deletePetsMost = 500;
export const listCategoriesQuery: readonly Filter[] = [];
export const createCategoryBody: readonly FieldDescription[] = [
  {
    name: "id",
    label: "Id",
    hint: "Only for animals that have the number of a category that does not exist.",
    kind: "id",
  },
  { name: "name", label: "Name", isRequired: true, maxLength: 255 },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const updateCategoryBody: readonly FieldDescription[] = [
  { name: "name", label: "Name", maxLength: 255 },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const deleteCategoryQuery: readonly FieldDescription[] = [{ name: "moveTo", label: "Move to", kind: "id" }];
export const listStoreOrdersQuery: readonly Filter[] = [
  { name: "status", choices: ["placed", "confirmed", "cancelled", "expired", "returned"] },
  { name: "sort", choices: ["id", "-id", "confirmedAt", "-confirmedAt"] },
];
export const placeStoreOrderBody: readonly FieldDescription[] = [
  { name: "petId", label: "Pet", kind: "id", isRequired: true },
  {
    name: "reference",
    label: "Reference",
    hint: "Your own number or name, such as that of a chip or receipt.",
    maxLength: 255,
  },
  {
    name: "seller",
    label: "Seller",
    hint: "Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order.",
    maxLength: 100,
  },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const updateStoreOrderBody: readonly FieldDescription[] = [
  {
    name: "reference",
    label: "Reference",
    hint: "Your own number or name, such as that of a chip or receipt.",
    isRemovable: true,
    maxLength: 255,
  },
  { name: "metadata", label: "Details", kind: "pairs" },
];
export const confirmStoreOrderBody: readonly FieldDescription[] = [
  { name: "seller", label: "Seller", hint: "Replaces the seller of the order.", maxLength: 100 },
];
export const getSalesQuery: readonly Filter[] = [];
export const fastForwardSandboxBody: readonly FieldDescription[] = [
  {
    name: "seconds",
    label: "Seconds",
    hint: "By how many seconds.",
    kind: "integer",
    isRequired: true,
    minimum: 1,
    maximum: 31622400,
  },
];
export const resetSandboxBody: readonly FieldDescription[] = [
  {
    name: "animals",
    label: "Animals",
    hint: "The new contents of the sandbox: nothing, or 24 animals in four categories, with sales of the last 14 days.",
    kind: "choice",
    isRequired: true,
    choices: ["none", "samples"],
  },
];
export const updateShopBody: readonly FieldDescription[] = [
  {
    name: "timeZone",
    label: "Time zone",
    hint: "Where the shop is, such as Europe/Berlin. Its days begin and end there.",
    maxLength: 64,
  },
  { name: "currency", label: "Currency", hint: "What prices are in, such as EUR.", isRemovable: true, maxLength: 3 },
];
export const listKeysQuery: readonly Filter[] = [{ name: "mode", choices: ["live", "test"] }];
export const createKeyBody: readonly FieldDescription[] = [
  { name: "name", label: "Name", isRequired: true, maxLength: 100 },
  { name: "scopes", label: "Scopes", kind: "choices", isRequired: true, choices: ["read", "write", "admin"] },
  {
    name: "mode",
    label: "Mode",
    hint: "Default: the mode of the calling key.",
    kind: "choice",
    choices: ["live", "test"],
  },
  { name: "expiresIn", label: "Expires in", kind: "integer", minimum: 60, maximum: 315360000 },
  {
    name: "limitPerMinute",
    label: "Limit per minute",
    hint: "Requests a minute, at most those of the plan.",
    kind: "integer",
    minimum: 1,
    maximum: 2147483647,
  },
];
export const updateKeyBody: readonly FieldDescription[] = [
  {
    name: "limitPerMinute",
    label: "Limit per minute",
    hint: "Requests a minute, at most those of the plan.",
    kind: "integer",
    isRemovable: true,
    minimum: 1,
    maximum: 2147483647,
  },
];
export const rotateKeyQuery: readonly FieldDescription[] = [
  {
    name: "overlap",
    label: "Overlap",
    hint: "Seconds for which the old key stays valid; 0 ends it at once. At least 60 if it is the calling key, so that the request can be repeated.",
    kind: "integer",
    preset: 86400,
    minimum: 0,
    maximum: 2592000,
  },
];
export const getUsageQuery: readonly Filter[] = [{ name: "granularity", choices: ["hour", "day"] }];
export const listRequestsQuery: readonly Filter[] = [{ name: "status", choices: ["2xx", "4xx", "5xx"] }];
export const listEventsQuery: readonly Filter[] = [
  {
    name: "type",
    choices: [
      "pet.created",
      "pet.updated",
      "pet.deleted",
      "pets.reassigned",
      "category.created",
      "category.updated",
      "category.deleted",
      "order.placed",
      "order.confirmed",
      "order.cancelled",
      "order.expired",
      "order.returned",
      "order.updated",
      "shop.updated",
      "key.created",
      "key.updated",
      "key.rotated",
      "key.revoked",
      "key.banned",
      "webhook_endpoint.created",
      "webhook_endpoint.updated",
      "webhook_endpoint.disabled",
      "webhook_endpoint.deleted",
    ],
  },
  { name: "sort", choices: ["id", "-id"] },
];
export const streamEventsQuery: readonly Filter[] = [
  {
    name: "type",
    choices: [
      "pet.created",
      "pet.updated",
      "pet.deleted",
      "pets.reassigned",
      "category.created",
      "category.updated",
      "category.deleted",
      "order.placed",
      "order.confirmed",
      "order.cancelled",
      "order.expired",
      "order.returned",
      "order.updated",
      "shop.updated",
      "key.created",
      "key.updated",
      "key.rotated",
      "key.revoked",
      "key.banned",
      "webhook_endpoint.created",
      "webhook_endpoint.updated",
      "webhook_endpoint.disabled",
      "webhook_endpoint.deleted",
    ],
  },
];
export const createWebhookEndpointBody: readonly FieldDescription[] = [
  {
    name: "url",
    label: "URL",
    hint: "Where to send messages: an https URL, except in development.",
    isRequired: true,
    maxLength: 2048,
  },
  {
    name: "types",
    label: "Types",
    kind: "choices",
    choices: [
      "*",
      "pet.created",
      "pet.updated",
      "pet.deleted",
      "pets.reassigned",
      "category.created",
      "category.updated",
      "category.deleted",
      "order.placed",
      "order.confirmed",
      "order.cancelled",
      "order.expired",
      "order.returned",
      "order.updated",
      "shop.updated",
      "key.created",
      "key.updated",
      "key.rotated",
      "key.revoked",
      "key.banned",
      "webhook_endpoint.created",
      "webhook_endpoint.updated",
      "webhook_endpoint.disabled",
      "webhook_endpoint.deleted",
    ],
  },
  { name: "description", label: "Description", canBeEmpty: true, maxLength: 255 },
];
export const updateWebhookEndpointBody: readonly FieldDescription[] = [
  { name: "url", label: "URL", hint: "Where to send messages: an https URL, except in development.", maxLength: 2048 },
  {
    name: "types",
    label: "Types",
    kind: "choices",
    choices: [
      "*",
      "pet.created",
      "pet.updated",
      "pet.deleted",
      "pets.reassigned",
      "category.created",
      "category.updated",
      "category.deleted",
      "order.placed",
      "order.confirmed",
      "order.cancelled",
      "order.expired",
      "order.returned",
      "order.updated",
      "shop.updated",
      "key.created",
      "key.updated",
      "key.rotated",
      "key.revoked",
      "key.banned",
      "webhook_endpoint.created",
      "webhook_endpoint.updated",
      "webhook_endpoint.disabled",
      "webhook_endpoint.deleted",
    ],
  },
  { name: "description", label: "Description", canBeEmpty: true, maxLength: 255 },
];
export const redeliverWebhooksBody: readonly FieldDescription[] = [
  { name: "from", label: "From", hint: "The first event. Default: the oldest stored one.", kind: "id" },
  { name: "to", label: "To", hint: "The last event. Default: the newest one.", kind: "id" },
];
export const listWebhookDeliveriesQuery: readonly Filter[] = [{ name: "outcome", choices: ["succeeded", "failed"] }];
