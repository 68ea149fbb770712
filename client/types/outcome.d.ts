// Generated from client/src by `npm run derive`.

import { type PetstoreError } from "./errors.js";
import { type IdKind } from "./json.js";
import { type ResponseInfo } from "./response.js";
/** The outcome of a call or an attempt: a body or an error. `info` is undefined if no response arrived. */
export type Outcome = {
    readonly info: ResponseInfo;
    readonly body: object;
    readonly error?: undefined;
} | {
    readonly info?: ResponseInfo;
    readonly body?: undefined;
    readonly error: PetstoreError;
};
/** The body as a stream of the web. That of node-fetch is one of Node. */
export declare function streamOf({ body }: Response): ReadableStream<Uint8Array<ArrayBuffer>> | null;
/** Reads the body as text. Returns undefined if it is too large. A proxy may send one that is not UTF-8. */
export declare function readText(response: Response): Promise<string | undefined>;
/** Parses a response. A response that does not come from the service becomes an error. */
export declare function parseResponse(response: Response, text: string | undefined, operation: string, now: number, ids?: IdKind): Outcome;
/** When the service responded, by its own clock, because the clock here may be wrong. Without `Date`, it is `now`. */
export declare function timeAtService(headers: Headers, now: number): number;
