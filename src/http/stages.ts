import type { Clock } from "../clock.ts";
import {
  type Failure,
  failure,
  insufficientScope,
  invalidApiKey,
  keyBanned,
  methodNotAllowed,
  missingApiKey,
  operationRemoved,
  pathNotFound,
  rateLimitExceeded,
} from "../contract/errors.ts";
import { type MaybePromise, whenReady } from "../maybe-promise.ts";
import type { Exchange } from "./exchange.ts";
import type { Admission, Authenticator, Limiter } from "./ports.ts";

/** What the stages need from outside. */
export interface StageServices {
  readonly authenticator: Authenticator;
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** Names the client of a request without a valid key. */
  readonly addressOf: (exchange: Exchange) => string;
}

/** One step of a request. A failure ends the request's way; no later stage sees it. */
export type Stage = (exchange: Exchange, services: StageServices) => MaybePromise<Failure | undefined>;

/** The token of a bearer credential (RFC 6750, section 2.1); undefined if it is none. */
function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  if (authorization.startsWith("Bearer ") && authorization[7] !== " ") return authorization.slice(7);
  const match = /^bearer(?: +(.*))?$/i.exec(authorization); // any letter case (RFC 9110, section 11.1)
  return match ? (match[1] ?? "") : undefined;
}

/** Who is it? A request without a valid key goes on as a stranger, to be counted before it is refused. */
const identify: Stage = (exchange, { authenticator }) => {
  const token = bearerToken(exchange.request.headers.get("authorization"));
  if (token === undefined) {
    exchange.stranger = failure(
      missingApiKey,
      "No API key was sent. Send it in the header Authorization: Bearer <API_KEY>.",
    );
    return undefined;
  }
  return whenReady(authenticator.authenticate(token), (caller) => {
    if (caller) exchange.caller = caller;
    else exchange.stranger = failure(invalidApiKey, "The API key is not valid: mistyped, unknown, expired or revoked.");
    return undefined;
  });
};

/** May it send a request now? Callers have their account's windows, strangers those of their address. */
const admit: Stage = (exchange, { limiter, addressOf }) => {
  const admission = exchange.caller ? limiter.admit(exchange.caller) : limiter.admitAddress(addressOf(exchange));
  return whenReady(admission, (decided) => {
    exchange.admission = decided;
    return decided.verdict === "admitted" ? exchange.stranger : denial(decided);
  });
};

function denial({ verdict, retryAfter, limit }: Admission): Failure {
  return verdict === "banned"
    ? failure(keyBanned, `The API key went on after a 429 and is banned for another ${retryAfter} seconds.`, {
        retryAfter,
      })
    : failure(
        rateLimitExceeded,
        `The ${limit} requests of the current window are used up. Try again in ${retryAfter} seconds.`,
        { retryAfter },
      );
}

/** Which operation is it, does it still exist, and may this key use it? */
const resolve: Stage = ({ route, operation: compiled, request, caller }, { clock }) => {
  if (!compiled) {
    return route.allow === ""
      ? failure(pathNotFound, "There is nothing at this path.")
      : failure(methodNotAllowed, `This path has no method ${request.method}; it has ${route.allow}.`);
  }
  const { operation } = compiled;
  if (clock.now() >= compiled.removedFrom) {
    const { removal, advice } = operation.deprecation ?? {};
    return failure(operationRemoved, `The operation was removed on ${removal}. ${advice}`);
  }
  return caller?.scopes.has(operation.scope)
    ? undefined
    : failure(insufficientScope, `The API key lacks the scope ${operation.scope}.`);
};

/** What does it say? The only stage that waits for the client. */
export const readInput: Stage = (exchange) =>
  whenReady(exchange.operation?.readInput(exchange.request), (input) => {
    if (input && "error" in input) return input;
    exchange.input = input;
    return undefined;
  });

/** Do it. */
const handle: Stage = (exchange) => {
  const { operation, input } = exchange;
  if (!operation || !input) throw new TypeError("A request was handled before it was read.");
  return whenReady(operation.handler(input), (outcome) => {
    if ("error" in outcome) {
      if (operation.operation.errors.includes(outcome.error)) return outcome;
      throw new TypeError(`${operation.operation.name} gave ${outcome.error.code}, which it does not declare.`);
    }
    exchange.success = outcome;
    return undefined;
  });
};

/** The way of a request, in order: so 401 comes before 429, and that before 404, 405, 415, 413 and 400. */
export const stages: readonly Stage[] = [identify, admit, resolve, readInput, handle];
