// Generated from client/src by `npm run derive`.

/**
 * Matches the names of the fields that hold 64-bit integers: those of the contract, and every name that ends in `Id`,
 * because later releases may add fields and types of events.
 */
export declare const int64Field: RegExp;
