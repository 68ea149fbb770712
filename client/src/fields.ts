// Generated from the contract by `npm run derive`.

/** Names of the fields of responses that hold 64-bit integers. */
export const int64Fields: ReadonlySet<string> = new Set([
  "categoryId",
  "deliveryId",
  "eventId",
  "from",
  "id",
  "petId",
  "to",
]);
