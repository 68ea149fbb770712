// Generated from client/src by `npm run derive`.

/**
 * Matches the names of the fields that hold 64-bit integers. In the data of events, which the contract does not
 * describe, these are all integers whose names end in `Id`.
 */
export declare const int64Field: RegExp;
