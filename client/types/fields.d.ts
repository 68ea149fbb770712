// Generated from client/src by `npm run derive`.

/** Names of the fields of responses that hold 64-bit integers. */
export declare const int64Fields: ReadonlySet<string>;
