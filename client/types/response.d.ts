// Generated from client/src by `npm run derive`.

/** The state of the rate limit window with the fewest remaining requests. */
export interface RateLimit {
    readonly limit: number;
    readonly remaining: number;
    /** When the window ends. */
    readonly reset: Date;
}
/** The parts of a response other than its body. */
export interface ResponseInfo {
    readonly status: number;
    /** Identifies the request in the service's log. */
    readonly requestId: string | undefined;
    readonly rateLimit: RateLimit | undefined;
    /** The version of the resource. Pass it, or the whole result, as `ifMatch`. */
    readonly etag: string | undefined;
    readonly headers: Headers;
}
/** The result of a call. `$response` is not enumerable, so spreading and JSON omit it. */
export type Result<T> = T & {
    readonly $response: ResponseInfo;
};
/** The result of an operation without a response body. */
export type NoContent = Result<Record<never, never>>;
export declare function withResponse(value: object, $response: ResponseInfo): object;
export declare function infoOf({ status, headers }: Response): ResponseInfo;
/** The URL with this relation in a `Link` header (RFC 8288). */
export declare function linkOf(headers: Headers, relation: string): string | undefined;
