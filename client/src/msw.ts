import { type HttpHandler, http } from "msw";
import { type FakeResponses, fakeFetch, operationOf } from "./fake-fetch.ts";

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
export function petstoreHandlers({
  baseUrl = "http://petstore.test/v1",
  responses = {},
}: HandlerOptions = {}): HttpHandler[] {
  const fetch = fakeFetch(responses);
  return [
    http.all(`${baseUrl.replace(/\/+$/, "")}/*`, ({ request }) => (operationOf(request) ? fetch(request) : undefined)),
  ];
}
