import { type Failure, failure, overloaded } from "../../contract/errors.ts";
import { count } from "../../contract/messages.ts";
import type { Exchange } from "../exchange.ts";

/** Refused clients return after 1 to this many seconds, so that they do not all return at once. */
const RETRY_SPREAD = 4;

/** The refusal of a request that was not processed. It belongs to no shop, so no shop counts or records it. */
export function refuseAtOverload(exchange: Exchange): Failure {
  exchange.caller = undefined;
  exchange.authFailure = undefined;
  const retryAfter = 1 + Math.floor(Math.random() * RETRY_SPREAD);
  const message = `The service is overloaded. Try again in ${count(retryAfter, "second")}.`;
  return failure(overloaded, message, { retryAfter });
}
