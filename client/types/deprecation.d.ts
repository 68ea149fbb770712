// Generated from client/src by `npm run derive`.

/** The deprecation headers of a response. */
export interface DeprecationNotice {
    readonly operation: string;
    /** When it was deprecated. */
    readonly since: Date;
    /** When it will be removed. */
    readonly sunset: Date;
    /** The URL of its replacement. */
    readonly successor: string | undefined;
    /** The URL of its documentation. */
    readonly documentation: string | undefined;
}
/** Reads the notice (RFC 9745, RFC 8594). Returns undefined if the operation is not deprecated. */
export declare function deprecationOf(operation: string, headers: Headers): DeprecationNotice | undefined;
export declare function deprecationWarning({ operation, sunset, successor }: DeprecationNotice): string;
