/** The fields that are not undefined. A field called `__proto__` stays a field. */
export declare function defined(fields: object): Record<string, string>;
