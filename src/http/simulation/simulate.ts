import { nextBan } from "../../contract/bans.ts";
import type { Caller } from "../../contract/caller.ts";
import { type Failure, keyBanned, rateLimitExceeded } from "../../contract/errors.ts";
import type { LimitStatus } from "../../contract/limits.ts";
import { MAX_DELAYED } from "../../contract/requests.ts";
import { type Clock, MINUTE_SECONDS } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { CompiledOperation } from "../compiled-operation.ts";
import type { Limiter } from "../interfaces.ts";
import { invalidSimulation, noResponse, type Simulation } from "./read-simulation.ts";

interface Services {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly delays: Delays;
}

/** Stage: starts what a request with a test key asks for: an error, a delay or a disconnect. */
export function simulate(
  header: string,
  { method }: Request,
  caller: Caller,
  { readSimulation }: CompiledOperation,
  services: Services,
): MaybePromise<Simulation | Failure> {
  if (caller.mode === "live") return invalidSimulation("is for test keys only, and this key is live; nothing was done");
  const asked = readSimulation(header);
  if ("error" in asked) return asked;
  const { text, delay, failure } = asked;
  // For HEAD, the runtime sends the headers before it notices that there is no response.
  if (failure?.error === noResponse && method === "HEAD") return invalidSimulation("cannot disconnect HEAD; send GET");
  const delayed = delay ? services.delays.begin(caller.accountId, delay) : undefined;
  if (delay && !delayed) {
    return invalidSimulation(`must have no delay while ${MAX_DELAYED} responses to the account are delayed`);
  }
  const simulation = { text, delay: delayed, failure, admission: undefined };
  return failure?.error === rateLimitExceeded || failure?.error === keyBanned
    ? whenReady(services.limiter.limitStatus(caller), (status) =>
        withLimits(simulation, failure, status, nextBan(caller, services.clock.now()).seconds, services.clock),
      )
    : simulation;
}

/** Gives a simulated limit error its limit headers and `Retry-After`. Windows and strikes do not change. */
function withLimits(
  simulation: Simulation,
  failed: Failure,
  { minute }: LimitStatus,
  banSeconds: number,
  clock: Clock,
): Simulation {
  const isBan = failed.error === keyBanned;
  const now = Math.ceil(clock.now() / 1000);
  // At most a minute: the limiter's clock may differ from this one.
  const retryAfter = isBan ? banSeconds : Math.min(MINUTE_SECONDS, Math.max(1, minute.reset - now));
  const reset = isBan ? now + banSeconds : minute.reset;
  return {
    ...simulation,
    failure: { ...failed, retryAfter },
    admission: { verdict: "admitted", limit: minute.limit, remaining: 0, reset, retryAfter: 0 }, // as the request was
  };
}

/** The delays that clients request for their tests. */
export type Delays = ReturnType<typeof openDelays>;

/** Opens the delays. Their number per account is limited, because a delayed response occupies memory. */
export function openDelays(clock: Clock) {
  /** What ends each, and when, by the monotonic clock. */
  const running = new Map<() => void, number>();
  const counts = new Map<string, number>();
  let isStopped = false;
  const begin = (account: string, milliseconds: number): Promise<void> | undefined => {
    if (isStopped) return Promise.resolve();
    const count = counts.get(account) ?? 0;
    if (count >= MAX_DELAYED) return undefined;
    counts.set(account, count + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      running.delete(end);
      const left = (counts.get(account) as number) - 1;
      if (left === 0) counts.delete(account);
      else counts.set(account, left);
      resolve();
    };
    running.set(end, clock.monotonic() + milliseconds);
    return promise;
  };
  const endUntil = (time: number) => {
    for (const [end, until] of running) if (until <= time) end();
  };
  return {
    /** Delays that have not ended. */
    get size() {
      return running.size;
    },
    /** Starts a delay and resolves when it ends. Returns undefined if the account has reached its limit. */
    begin,
    /** Ends the delays whose time is over. Call it every 100 ms or so. */
    sweep: () => endUntil(clock.monotonic()),
    /** Ends all delays. Later ones end immediately. */
    stop: () => {
      isStopped = true;
      endUntil(Number.POSITIVE_INFINITY);
    },
  };
}
