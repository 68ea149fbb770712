// Generated from the contract by `npm run derive`.

/**
 * Matches the names of the fields that hold 64-bit integers: those of the contract, and every name that ends in `Id`,
 * because the contract does not describe the data of events.
 */
export const int64Field = /^(from|id|to)$|Id$/;
