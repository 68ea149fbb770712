import { type Failure, failure, overloaded } from "../../contract/errors.ts";
import { count } from "../../contract/messages.ts";
import type { Exchange } from "../exchange.ts";
import type { LoadShedder } from "./load-shedder.ts";

/** The refusal of a request that was not processed. It belongs to no shop, so no shop counts or records it. */
export function refuseAtOverload(exchange: Exchange, shedder: LoadShedder): Failure {
  exchange.caller = undefined;
  exchange.authFailure = undefined;
  const retryAfter = shedder.retryAfter();
  const message = `The service is overloaded. Try again in ${count(retryAfter, "second")}.`;
  return failure(overloaded, message, { retryAfter });
}
