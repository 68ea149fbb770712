import type { Caller, Mode } from "../contract/caller.ts";
import {
  accountSuspended,
  type Failure,
  failure,
  invalidApiKey,
  keyBanned,
  lacksScope,
  methodNotAllowed,
  missingApiKey,
  operationRemoved,
  overloaded,
  pathNotFound,
  rateLimitExceeded,
} from "../contract/errors.ts";
import type { Input, Success, Write } from "../contract/handler.ts";
import { count } from "../contract/messages.ts";
import { separateQuotaOf } from "../contract/operation-properties.ts";
import { type RequestStage, requestStages, SIMULATE } from "../contract/requests.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { requireDeclared } from "./compiled-operation.ts";
import type { Exchange } from "./exchange.ts";
import type { Idempotency } from "./idempotency/idempotency.ts";
import { bearerToken, invalidKeyMessage, missingKeyMessage } from "./input/bearer-token.ts";
import { addressOf, type ClientAddresses } from "./input/client-address.ts";
import type { PathAdvice } from "./input/path-advice.ts";
import type { Admission, Authenticator, Limiter } from "./interfaces.ts";
import type { LoadShedder } from "./load-shedder.ts";
import { explainMismatch } from "./response/entity-tag.ts";
import type { Unread } from "./response/large-body.ts";
import { type Delays, simulate as simulateAs } from "./simulation/simulate.ts";
import type { Streams } from "./streams/streams.ts";

/** The services that the stages need. */
export interface StageServices {
  readonly authenticator: Authenticator;
  readonly shedder: LoadShedder;
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** Runs the change of an operation. */
  readonly write: Write;
  /** Runs the change of a request with an `Idempotency-Key`. */
  readonly idempotency: Idempotency;
  readonly delays: Delays;
  readonly streams: Streams;
  readonly unread: Unread;
  readonly addresses: ClientAddresses;
  readonly paths: PathAdvice;
}

/** One step of a request. If it returns a failure, no later stage runs. */
export type Stage = (exchange: Exchange, services: StageServices) => MaybePromise<Failure | undefined>;

const suspended = failure(accountSuspended, "The account is suspended. Ask the operator of the service why.");

/**
 * Stage: identifies the caller. A request without a valid key is counted as an anonymous client before it is refused.
 * A request of a suspended account is counted in the windows of its shop before it is refused.
 */
const identify: Stage = (exchange, { authenticator }) => {
  const authorization = exchange.request.headers.get("authorization");
  const token = bearerToken(authorization);
  if (token === undefined) {
    exchange.authFailure = failure(missingApiKey, missingKeyMessage(authorization));
    return undefined;
  }
  exchange.keysVersion = authenticator.version;
  return whenReady(authenticator.authenticate(token), noteCaller, exchange);
};

function noteCaller(caller: Caller | undefined, exchange: Exchange): undefined {
  exchange.caller = caller;
  exchange.authFailure = authFailureOf(caller, exchange);
}

/** Why the requests of a key are refused. */
function authFailureOf(caller: Caller | undefined, { request }: Exchange): Failure | undefined {
  if (!caller) {
    const token = bearerToken(request.headers.get("authorization")) ?? "";
    return failure(invalidApiKey, invalidKeyMessage(token));
  }
  return caller.isSuspended ? suspended : undefined;
}

/** Stage: refuses requests at overload, and reads of shops that leave too much unread. They are not counted. */
const shedLoad: Stage = (exchange, { shedder, unread }) => {
  const { caller } = exchange;
  if (caller && !exchange.isWrite && unread.isTooMuchOf(caller.shop)) return refuseAtOverload(exchange);
  return whenReady(shedder.refuses(caller?.shop), refusalIf, exchange);
};

function refusalIf(isRefused: boolean, exchange: Exchange): Failure | undefined {
  return isRefused ? refuseAtOverload(exchange) : undefined;
}

/** The refusal of a request that was not processed. It belongs to no shop, so no shop counts or records it. */
export function refuseAtOverload(exchange: Exchange): Failure {
  exchange.caller = undefined;
  exchange.authFailure = undefined;
  return failure(overloaded, "The service is overloaded. Try again in 1 second.", { retryAfter: 1 });
}

/** Stage: counts the request against the windows of its shop or, without a valid key, of its address. */
const admit: Stage = (exchange, services) => whenReady(askLimiter(exchange, services), noteAdmission, exchange);

function noteAdmission(admission: Admission, exchange: Exchange): Failure | undefined {
  exchange.admission = admission;
  return admission.verdict === "admitted" ? exchange.authFailure : denial(admission);
}

function askLimiter(exchange: Exchange, { limiter, addresses }: StageServices): MaybePromise<Admission> {
  const { caller, operation } = exchange;
  if (!caller) return limiter.admitAddress(addressOf(exchange, addresses));
  const separate = separateQuotaOf(operation?.operation, caller);
  return separate ? limiter.admitSeparately(caller, separate) : limiter.admit(caller);
}

function denial({ verdict, retryAfter, limit }: Admission): Failure {
  const wait = count(retryAfter, "second");
  if (verdict === "banned") {
    const message = `The API key kept sending requests after a 429 and is banned for another ${wait}.`;
    return failure(keyBanned, message, { retryAfter });
  }
  const usedUp = `${count(limit, "request")} of the current window ${limit === 1 ? "is" : "are"} used up`;
  return failure(rateLimitExceeded, `The ${usedUp}. Try again in ${wait}.`, { retryAfter });
}

/** Stage: requires that the operation exists, is not removed, and that the key has its scopes. */
const resolve: Stage = ({ route, operation: compiled, request, caller }, { clock, paths }) => {
  if (!compiled) {
    const [other] = route.methods.values();
    return route.allow === ""
      ? failure(pathNotFound, paths.ofUnknown(request))
      : failure(methodNotAllowed, paths.ofMethod(request.method, route.allow, other?.operation));
  }
  const { operation } = compiled;
  if (operation.deprecation && clock.now() >= compiled.removedFrom) {
    const { removal, advice } = operation.deprecation;
    return failure(operationRemoved, `The operation was removed on ${removal}. ${advice}`);
  }
  for (const scope of operation.scopes) if (!caller?.scopes.has(scope)) return lacksScope(scope);
  return undefined;
};

/** Stage: applies the simulation that a request asks for. */
const simulate: Stage = (exchange, services) => {
  const header = exchange.request.headers.get(SIMULATE);
  return header === null ? undefined : simulateAs(header, exchange, services);
};

/** Stage: reads and validates the input. It is the only stage that waits for the client. */
const readInput: Stage = (exchange) => {
  const { operation, caller } = exchange;
  if (!operation || !caller) throw new TypeError("A request was read before it was resolved.");
  return whenReady(operation.readInput(exchange.request, caller, exchange.id), noteInput, exchange);
};

function noteInput(input: Input | Failure, exchange: Exchange): Failure | undefined {
  if ("error" in input) return input;
  exchange.input = input;
  return undefined;
}

/**
 * Stage: runs the operation. If any key has changed since the caller was identified, the caller is identified again: no
 * client can use a revoked key for longer by sending the body late.
 */
const handle: Stage = (exchange, services) => {
  const { caller, keysVersion } = exchange;
  const { authenticator } = services;
  const isCurrent = !caller || keysVersion === authenticator.version;
  return isCurrent ? run(exchange, services) : runIfStillValid(exchange, caller, services);
};

function runIfStillValid(
  exchange: Exchange,
  caller: Caller,
  services: StageServices,
): MaybePromise<Failure | undefined> {
  return whenReady(services.authenticator.authenticateAgain(caller), (current) => {
    exchange.authFailure = authFailureOf(current, exchange);
    return exchange.authFailure ?? run(exchange, services);
  });
}

const run: Stage = (exchange, { write, idempotency }) => {
  const { operation, input } = exchange;
  if (!operation || !input) throw new TypeError("A request was handled before it was read.");
  return input.idempotencyKey === undefined
    ? whenReady(operation.serve(input, write), noteOutcome, exchange)
    : whenReady(idempotency.serve(exchange, input), noteOutcome, exchange);
};

function noteOutcome(outcome: Success | Failure, exchange: Exchange): Failure | undefined {
  if (!("error" in outcome)) {
    exchange.success = outcome;
    return undefined;
  }
  const { operation, input, caller, request } = exchange;
  // With a key, `Idempotency` has checked it.
  if (operation && input?.idempotencyKey === undefined) requireDeclared(outcome, operation.operation);
  return outcome.error.status === 404 && caller
    ? { ...outcome, message: `${outcome.message} ${seen[caller.mode]}` }
    : explainMismatch(outcome, request.headers);
}

/** What a key cannot see, for the message about a resource that it does not find: it may be there with another key. */
const seen: Readonly<Record<Mode, string>> = {
  live: "The key is live: it sees the live shop, not the sandbox.",
  test: "The key is a test key: it sees the sandbox, not the live shop.",
};

/** Stage: opens the stream of a streamed operation, unless there are too many. `HEAD` gets only the headers. */
const openStream: Stage = (exchange, { streams }) => {
  const encoder = exchange.operation?.eventEncoder;
  return encoder && exchange.request.method !== "HEAD" ? streams.open(exchange, encoder) : undefined;
};

const byName: Readonly<Record<RequestStage, Stage>> = {
  identify,
  shedLoad,
  admit,
  resolve,
  simulate,
  readInput,
  handle,
  openStream,
};

/** The stages of a request, in order. */
export const stages: readonly Stage[] = requestStages.map((name) => byName[name]);
