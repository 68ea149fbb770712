// Generated from client/src by `npm run derive`.

import { type HttpHandler } from "msw";
import { type FakeResponses } from "./fake-fetch.js";
export interface HandlerOptions {
    /** The base URL of the client under test, which ends with `/v1`. Default: `http://petstore.test/v1`. */
    readonly baseUrl?: string | undefined;
    /** What operations return instead of the examples of the documentation. */
    readonly responses?: FakeResponses | undefined;
}
/**
 * Handlers of msw that respond as the service does. They take only requests to the operations of the service at
 * `baseUrl`; others go to the handlers of other services.
 */
export declare function petstoreHandlers({ baseUrl, responses, }?: HandlerOptions): HttpHandler[];
