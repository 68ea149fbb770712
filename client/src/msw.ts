import { type HttpHandler, http } from "msw";
import { type FakeResponses, fakeFetch } from "./fake-fetch.ts";

/** Handlers of msw that respond as the service does, with the examples of the documentation or with `responses`. */
export function petstoreHandlers(responses: FakeResponses = {}): HttpHandler[] {
  const fetch = fakeFetch(responses);
  return [http.all("*/v1/*", ({ request }) => fetch(request))];
}
