// Generated from the contract by `npm run derive`.

/**
 * Matches the names of the fields that hold 64-bit integers. Integers whose names end in `Id` do also in the data of
 * events, which the contract does not describe.
 */
export const int64Field = /^(from|id|to)$|Id$/;
