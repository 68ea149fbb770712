// Generated from client/src by `npm run derive`.

/** Copies the fields that are not undefined, including one called `__proto__`. */
export declare function defined(fields: object): Record<string, string>;
