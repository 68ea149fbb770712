// Generated from client/src by `npm run derive`.

import type { ClientErrorCode } from "./errors.js";
import { type Example } from "./examples.js";
import type { ErrorCodes, Petstore } from "./operations.js";
import type { Pages } from "./pages.js";
import type { Result } from "./response.js";
/** What an operation returns. */
type ResultOf<Returned> = Returned extends Pages<infer Item> ? readonly Item[] : Returned extends AsyncGenerator<infer Item, never, void> ? readonly Item[] : Returned extends Promise<Result<infer Body>> ? Body : never;
/** For each operation, its result or the code of an error. Others return the example of the documentation. */
export type FakeResponses = {
    readonly [Name in keyof ErrorCodes]?: ResultOf<ReturnType<Petstore[Name]>> | Exclude<ErrorCodes[Name], ClientErrorCode> | undefined;
};
/** The name and the example of the operation at an address, which ends with its path after `/v1`. */
export declare function operationOf(request: Request): [string, Example & {
    readonly method: string;
    readonly path: string;
}] | undefined;
/**
 * A `fetch` that needs no service: it responds as the service does, with examples or with `responses`. An error that the
 * client would repeat has a `Retry-After` of a day, so it comes at once.
 */
export declare function fakeFetch(responses?: FakeResponses): (input: string | Request, init?: RequestInit) => Promise<Response>;
export {};
