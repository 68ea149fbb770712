import { banEnd, strikesForBan } from "../contract/bans.ts";
import type { Caller, Mode } from "../contract/caller.ts";
import * as errors from "../contract/errors.ts";
import { type Failure, failure, lacksScope } from "../contract/errors.ts";
import type { Input } from "../contract/handler.ts";
import type { Limited } from "../contract/limits.ts";
import { count } from "../contract/messages.ts";
import { separateQuotaOf } from "../contract/operation-properties.ts";
import { SIMULATE } from "../contract/requests.ts";
import type { AbuseLog } from "../telemetry/abuse-log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../timing/clock.ts";
import { type MaybePromise, whenReady } from "../timing/maybe-promise.ts";
import { turns } from "../timing/turns.ts";
import type { Changes } from "./changes/changes.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import type { Exchange } from "./exchange.ts";
import type { PathAdvice } from "./input/path-advice.ts";
import type { BodyResult } from "./input/read-body.ts";
import { queryText } from "./input/read-input.ts";
import { bearerToken, explainMismatch, missingKeyMessage } from "./input/request-headers.ts";
import type { Admission, Authenticator, Banned, Limiter, Store } from "./interfaces.ts";
import type { LoadShedder } from "./load-shedder.ts";
import { isLongPage, readLongPage } from "./response/long-pages.ts";
import { type Rendered, streamResponse, successResponse, type Unread } from "./response/response.ts";
import type { SharedPages } from "./response/shared-pages.ts";
import { type Delays, simulate } from "./simulation/simulate.ts";
import type { Streams } from "./streams/streams.ts";

export interface StageServices {
  readonly authenticator: Authenticator;
  readonly shedder: LoadShedder;
  readonly unread: Unread;
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly abuse: AbuseLog;
  readonly clock: Clock;
  readonly paths: PathAdvice;
  readonly delays: Delays;
  readonly store: Store;
  readonly changes: Changes;
  readonly pages: SharedPages;
  readonly streams: Streams;
}

/**
 * The stages of one request. They yield each promise that they must wait for, and get back what it resolves to. They return
 * a promise for a message, whose requests have their own stages.
 */
export type Stages = Generator<Promise<unknown>, Response | Promise<Response> | Failure, never>;

/**
 * Runs the stages in order. Each takes what those before it have returned, and a failure ends the request. `exchange`
 * notes what the response and the reports need besides.
 */
export function* runStages(exchange: Exchange, services: StageServices): Stages {
  const { request } = exchange;
  const { authenticator, unread } = services;

  const keysVersion = authenticator.version;
  const identifying = identify(request, authenticator);
  const identity = identifying instanceof Promise ? yield* settled(identifying) : identifying;

  exchange.enter("shedLoad");
  if (!("error" in identity)) exchange.payer = identity.shop;
  let isRefused = shedLoad(identity, exchange.isWrite, services);
  if (isRefused instanceof Promise) isRefused = yield* settled(isRefused);
  if (isRefused) return overloadedNow;

  if (!("error" in identity)) exchange.caller = identity; // only now: a request that was shed belongs to no shop
  const { messages } = exchange.route;
  if (messages && exchange.caller) {
    exchange.enter("readInput");
    let message = messages.read(request);
    if (message instanceof Promise) message = yield* parseInTurn(exchange, message, services);
    return "error" in message ? message : messages.answer(exchange, exchange.caller, message);
  }

  exchange.enter("resolve");
  const resolved = "error" in identity ? () => identity : resolve(exchange, identity, services);

  exchange.enter("admit");
  let admission = admit(exchange, identity, services);
  if (admission instanceof Promise) admission = yield* settled(admission);
  if (admission.isLastStrike && exchange.caller)
    admission = yield* settled(banKey(exchange.caller, admission, services));
  exchange.admission = admission;
  if (admission.verdict !== "admitted") return deny(exchange, admission, services);
  // What earlier stages refuse counts, too, and is refused only now.
  if ("error" in identity) return refuse(exchange, "identify", identity);
  if (identity.isSuspended) return refuse(exchange, "identify", suspended);
  if (typeof resolved === "function") return refuse(exchange, "resolve", resolved());
  const [caller, compiled] = [identity, resolved];

  exchange.enter("simulate");
  const header = request.headers.get(SIMULATE);
  if (header !== null) {
    let simulation = simulate(header, request, caller, compiled, services);
    if (simulation instanceof Promise) simulation = yield* settled(simulation);
    if ("error" in simulation) return simulation;
    exchange.simulation = simulation;
    exchange.admission = simulation.admission ?? admission;
    if (simulation.failure) return simulation.failure;
  }

  exchange.enter("readInput");
  const head = compiled.readHead(request);
  if ("error" in head) return head;
  let body = compiled.readBody(request);
  if (body instanceof Promise) body = yield* parseInTurn(exchange, body, services);
  const input = compiled.toInput(head, body, caller, exchange.id);
  if ("error" in input) return input;

  exchange.enter("handle");
  // No client can use a revoked key for longer by sending the body late.
  if (keysVersion !== authenticator.version) {
    let current = authenticator.authenticateAgain(caller);
    if (current instanceof Promise) current = yield* settled(current);
    if (!current || "error" in current)
      return refuse(exchange, "identify", noteInvalidKey(exchange, current ?? keyGone, services));
    if (current.isSuspended) return refuse(exchange, "identify", suspended);
  }
  let answer = handle(exchange, compiled, input, services);
  if (answer instanceof Promise) answer = yield* settled(answer);
  if ("error" in answer) return explain(answer, request, caller);
  if (!exchange.isReplay) exchange.created = answer.created;
  if (!answer.stream) return successResponse(exchange, compiled, admission, answer, caller.shop, unread);

  exchange.enter("openStream");
  if (request.method === "HEAD") return streamResponse(exchange, compiled, admission, null);
  const stream = services.streams.open(exchange, caller, compiled.operation, answer.stream);
  return "error" in stream ? stream : streamResponse(exchange, compiled, admission, stream.body);
}

/** Waits for a promise. A bare `yield` would have any type. */
function* settled<T>(promise: Promise<T>): Generator<Promise<T>, T, never> {
  return yield promise;
}

/** Stage: finds the caller, or why there is none. */
function identify(request: Request, authenticator: Authenticator): MaybePromise<Caller | Failure> {
  const token = bearerToken(request.headers.get("authorization"));
  if (token === undefined) return failure(errors.missingApiKey, missingKeyMessage(request));
  const found = authenticator.authenticate(token);
  return found instanceof Promise ? found.then((one) => one ?? unknownKey) : (found ?? unknownKey);
}

const unknownKey = failure(
  errors.invalidApiKey,
  "The API key is unknown here. It was made for another service or store, or its account was deleted.",
);

/** Stage: refuses requests at overload, and reads of shops that leave too much unread. They are not counted. */
function shedLoad(
  identity: Caller | Failure,
  isWrite: boolean,
  { shedder, unread }: StageServices,
): MaybePromise<boolean> {
  if ("error" in identity) return shedder.refuses(undefined);
  return (!isWrite && unread.isTooMuchOf(identity.shop)) || shedder.refuses(identity.shop);
}

export const overloadedNow = failure(errors.overloaded, "The service is overloaded. Try again in 1 second.", {
  retryAfter: 1,
});

/**
 * Stage: counts the request against the windows of its shop or, without a valid key, of its address. A request of a banned
 * key does not count, unless its operation has a separate quota.
 */
function admit(exchange: Exchange, identity: Caller | Failure, services: StageServices): MaybePromise<Admission> {
  const { limiter, clock } = services;
  if ("error" in identity) {
    if (identity.error === errors.invalidApiKey) noteInvalidKey(exchange, identity, services);
    return limiter.admitAddress(exchange.address);
  }
  const separate = separateQuotaOf(exchange.operation, identity);
  if (identity.bannedUntil === null && !separate) return limiter.admit(identity); // nearly every request
  const now = clock.now();
  const until = banEnd(identity, now);
  if (!separate) return until === undefined ? limiter.admit(identity) : banned(identity, until, now);
  const admission = limiter.admitSeparately(identity, separate);
  if (until === undefined) return admission;
  return whenReady(admission, (decided) =>
    decided.verdict === "limited"
      ? decided
      : { ...banned(identity, until, now), verdict: "admitted" as const, retryAfter: 0 },
  );
}

/** What a request of a banned key gets. `until` and `now` are in Unix milliseconds. */
function banned({ perMinute }: Caller, until: number, now: number): Banned {
  const retryAfter = Math.max(1, Math.ceil((until - now) / 1000));
  return { verdict: "banned", limit: perMinute, remaining: 0, reset: Math.ceil(until / 1000), retryAfter };
}

/** Bans the key whose last strike this was. If the store fails, the request is refused as limited, and strikes are counted from 0 again. */
async function banKey(caller: Caller, limited: Limited, services: StageServices): Promise<Limited | Banned> {
  const { authenticator, clock, abuse } = services;
  const ban = await authenticator.ban(caller);
  if (!ban) return limited;
  if (ban.seconds !== undefined) {
    abuse.banned(caller, { until: ban.until, seconds: ban.seconds, strikes: strikesForBan(caller.perMinute) });
  }
  return banned(caller, ban.until, clock.now());
}

function noteInvalidKey({ address }: Exchange, failed: Failure, { abuse }: StageServices): Failure {
  abuse.invalidKey(address);
  return failed;
}

/** Reports a request over a limit or of a banned key, and says why it is refused. */
function deny(
  { caller }: Exchange,
  { verdict, retryAfter, limit, window }: Limited | Banned,
  { metrics }: StageServices,
): Failure {
  const wait = count(retryAfter, "second");
  if (verdict === "banned") {
    metrics.limited("ban");
    const message = `The API key kept sending requests after a 429 and is banned for another ${wait}.`;
    return failure(errors.keyBanned, message, { retryAfter });
  }
  metrics.limited(window === "key" ? "key" : caller ? "account" : "address");
  const whose = window === "key" ? "key's own minute" : "current window";
  const usedUp = `${count(limit, "request")} of the ${whose} ${limit === 1 ? "is" : "are"} used up`;
  return failure(errors.rateLimitExceeded, `The ${usedUp}. Try again in ${wait}.`, { retryAfter });
}

const suspended = failure(errors.accountSuspended, "The account is suspended. Ask the operator of the service why.");
const keyGone = failure(errors.invalidApiKey, "The API key or its account was deleted.");

/** A failure that belongs to an earlier stage, however late the request is refused. */
function refuse(exchange: Exchange, stage: Exchange["earlierStage"], failed: Failure): Failure {
  exchange.earlierStage = stage;
  return failed;
}

/**
 * Stage: requires that the operation exists, is not removed, and that the key has its scopes. Otherwise it returns what
 * makes the failure: a request over a limit does not need it.
 */
function resolve(exchange: Exchange, caller: Caller, services: StageServices): CompiledOperation | (() => Failure) {
  const { clock, paths } = services;
  const { route, compiled, request } = exchange;
  if (!compiled) {
    const [other] = route.methods.values();
    return () =>
      other
        ? failure(errors.methodNotAllowed, paths.ofMethod(request.method, route.allow, other.operation))
        : failure(errors.pathNotFound, paths.ofUnknown(request));
  }
  const { operation } = compiled;
  if (operation.deprecation && clock.now() >= compiled.removedFrom) {
    const { removal, advice } = operation.deprecation;
    return () => failure(errors.operationRemoved, `The operation was removed on ${removal}. ${advice}`);
  }
  for (const scope of operation.scopes) if (!caller.scopes.has(scope)) return () => lacksScope(scope);
  return compiled;
}

/** Stage: runs the operation. */
function handle(
  exchange: Exchange,
  compiled: CompiledOperation,
  input: Input,
  { store, changes, pages }: StageServices,
): MaybePromise<Rendered | Failure> {
  if (compiled.change) return changes.serve(exchange, compiled, input);
  const { operation, fillPath } = compiled;
  const { shop, keyId } = input.caller;
  const read = () => {
    if (isLongPage(operation, input)) return readLongPage(compiled, input, store);
    const outcome = store.read(compiled.read(input), shop);
    if (!(outcome instanceof Promise)) return compiled.render(outcome, input);
    return outcome.then((found) => turns.run(shop, () => compiled.render(found, input)));
  };
  if (!operation.paged) return read();
  // Requests of the same key may share a page.
  const name = `${shop} ${keyId} ${input.pageBytes} ${fillPath(input.params)}?${queryText(exchange.request.url)}`;
  return pages.get(shop, name, read);
}

/** Part of a stage: waits for a body, and parses it when it is its shop's turn. Many large ones may arrive together. */
function* parseInTurn(
  exchange: Exchange,
  arriving: Promise<() => BodyResult>,
  { shedder }: StageServices,
): Generator<Promise<unknown>, BodyResult, never> {
  const { payer } = exchange;
  const parse = yield* settled(arriving);
  exchange.earlierStage = "shedLoad";
  const turn = shedder.putOff(payer);
  if (turn) yield* settled(turn);
  exchange.earlierStage = undefined;
  return parse();
}

/** Adds to a 404 what the key cannot see, and to a failed If-Match that weak tags never match. */
function explain(failed: Failure, { headers }: Request, { mode }: Caller): Failure {
  if (failed.error.status !== 404) return explainMismatch(failed, headers);
  return { ...failed, message: `${failed.message} ${seen[mode]}` };
}

/** What a key cannot see, for the message about a resource that it does not find: it may be there with another key. */
const seen: Readonly<Record<Mode, string>> = {
  live: "The key is live: it sees the live shop, not the sandbox.",
  test: "The key is a test key: it sees the sandbox, not the live shop.",
};
