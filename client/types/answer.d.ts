import { type PetstoreError } from "./errors.js";
import { type IdKind } from "./json.js";
import { type ResponseInfo } from "./response.js";
/** What a call or an attempt has come to: a body or an error. Without `info` there was no response. */
export type Answer = {
    readonly info: ResponseInfo;
    readonly body: object;
    readonly error?: undefined;
} | {
    readonly info?: ResponseInfo;
    readonly body?: undefined;
    readonly error: PetstoreError;
};
/** The text of the body; undefined if it is too large. Throws an error for text that is not UTF-8. */
export declare function textOf(response: Response): Promise<string | undefined>;
/** Reads a response. Whatever is not a response of the service becomes an error that says so. */
export declare function answerOf(response: Response, text: string | undefined, operation: string, ids?: IdKind): Answer;
