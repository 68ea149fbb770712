/** What the headers of a deprecated operation say. */
export interface DeprecationNotice {
    readonly operation: string;
    /** When it was deprecated. */
    readonly since: Date;
    /** When it is removed. */
    readonly sunset: Date;
    /** The address of what replaces it. */
    readonly successor: string | undefined;
    /** The address of its documentation. */
    readonly documentation: string | undefined;
}
/** Reads the notice (RFC 9745, RFC 8594); undefined for an operation that is not deprecated. */
export declare function deprecationOf(operation: string, headers: Headers): DeprecationNotice | undefined;
export declare function warnOfDeprecation({ operation, sunset, successor }: DeprecationNotice): void;
