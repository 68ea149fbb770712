// Generated from client/src by `npm run derive`.

import { type HttpHandler } from "msw";
import { type FakeResponses } from "./fake-fetch.js";
/** Handlers of msw that respond as the service does, with the examples of the documentation or with `responses`. */
export declare function petstoreHandlers(responses?: FakeResponses): HttpHandler[];
