/** How the window with the least remaining stands. */
export interface RateLimit {
    readonly limit: number;
    readonly remaining: number;
    /** When the window ends. */
    readonly reset: Date;
}
/** What a response tells besides its body. */
export interface ResponseInfo {
    readonly status: number;
    /** Identifies the request in the service's log. */
    readonly requestId: string | undefined;
    readonly rateLimit: RateLimit | undefined;
    /** The version of the resource. `ifMatch` takes it, or the whole result. */
    readonly etag: string | undefined;
    readonly headers: Headers;
}
/** What a call gives, and in a field that neither spreading nor JSON shows, what its response told besides. */
export type Result<T> = T & {
    readonly $response: ResponseInfo;
};
/** The result of an operation that has nothing to give. */
export type NoContent = Result<Record<never, never>>;
export declare function withResponse(value: object, $response: ResponseInfo): object;
export declare function infoOf({ status, headers }: Response): ResponseInfo;
/** The address with this relation in a `Link` header (RFC 8288). */
export declare function linkOf(headers: Headers, relation: string): string | undefined;
