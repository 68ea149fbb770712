import { expect } from "bun:test";
import { type Arbitrary, array, constant, constantFrom, integer, oneof, record } from "fast-check";
import type { Caller, Mode, Quota } from "../../src/contract/caller.ts";
import type { Admission, Limiter } from "../../src/http/interfaces.ts";
import { callerWith } from "../harness/callers.ts";
import type { ManualClock } from "../harness/manual-clock.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

interface Window {
  used: number;
  ends: number;
}

/** When it began, when it ends, and the requests that came too early. */
interface Denial {
  since: number;
  until: number;
  strikes: number;
}

interface State {
  minute: Window;
  day: Window;
  /** Only of a sandbox with a fast-forward in it. */
  realMinute?: Window | undefined;
  readonly denials: Map<string, Denial>;
}

const newState = (): State => ({ minute: { used: 0, ends: 0 }, day: { used: 0, ends: 0 }, denials: new Map() });

/**
 * What a limiter must answer: the rules for one request, simple enough to be seen to be right. Limiters are compared with
 * it.
 */
export class LimiterModel {
  readonly #clock: ManualClock;
  /** By shop and address. */
  #states = new Map<string, State>();
  #saved = new Map<string, State>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  request(caller: Caller): Admission {
    const now = this.#clock.now();
    const state = this.#states.getOrInsertComputed(shopOf(caller), newState);
    const admission = this.#count(state, caller, now);
    const denial = state.denials.get(caller.keyId);
    if (admission.verdict === "admitted") {
      state.denials.delete(caller.keyId);
      return admission;
    }
    const until = now + admission.retryAfter * 1000;
    if (!denial || !isRunning(denial.until, DAY, now)) {
      state.denials.set(caller.keyId, { since: now, until, strikes: 0 });
      return admission;
    }
    denial.until = Math.min(denial.until, until);
    if (now >= denial.since + 1_000) denial.strikes++;
    if (denial.strikes < Math.max(20, Math.floor(caller.perMinute / 2))) return admission;
    state.denials.delete(caller.keyId);
    return { ...admission, isLastStrike: true };
  }

  /** All times of a sandbox come nearer, but for those of the minute in which real time is counted. */
  bringNearer(accountId: string, milliseconds: number): void {
    const state = this.#states.getOrInsertComputed(shopOf({ accountId, mode: "test" }), newState);
    const now = this.#clock.now();
    if (isRunning(state.minute.ends, MINUTE, now) && !isRunning(state.realMinute?.ends ?? 0, MINUTE, now)) {
      state.realMinute = { ...state.minute };
    }
    state.minute.ends -= milliseconds;
    state.day.ends -= milliseconds;
    for (const denial of state.denials.values()) {
      denial.since -= milliseconds;
      denial.until -= milliseconds;
    }
  }

  /** What was counted until now is on disk: the minute and the day. */
  save(): void {
    this.#saved = new Map([...this.#states].map(([who, state]) => [who, savedOf(state)]));
  }

  /** The limiter starts again and knows what is on disk. */
  restart(): void {
    this.#states = this.#saved;
    this.save();
  }

  #count(state: State, quota: Quota, now: number): Admission {
    if (!isRunning(state.day.ends, DAY, now)) {
      state.day = { used: 0, ends: (Math.floor(now / DAY) + 1) * DAY };
      state.denials.clear();
    }
    const minute = isRunning(state.minute.ends, MINUTE, now) ? state.minute : { used: 0, ends: now + MINUTE };
    const windows = [
      { window: state.day, limit: quota.perDay },
      { window: minute, limit: quota.perMinute },
    ];
    const real = state.realMinute;
    if (real && isRunning(real.ends, MINUTE, now)) windows.push({ window: real, limit: 3 * quota.perMinute });
    const full = windows.filter(({ window, limit }) => window.used >= limit);
    if (full.length === 0) {
      state.minute = minute;
      for (const { window } of windows) window.used++;
      const left = windows.map(({ window, limit }) => limit - window.used);
      const least = left.indexOf(Math.min(...left));
      const { window, limit } = windows[least] as (typeof windows)[number];
      const remaining = Math.max(0, limit - window.used);
      return { verdict: "admitted", limit, remaining, reset: Math.ceil(window.ends / 1000), retryAfter: 0 };
    }
    const waits = full.map(({ window }) => Math.ceil((window.ends - now) / 1000));
    const longest = Math.max(...waits);
    const { window, limit } = full[waits.indexOf(longest)] as (typeof full)[number];
    return { verdict: "limited", limit, remaining: 0, reset: Math.ceil(window.ends / 1000), retryAfter: longest };
  }
}

/** What a restart leaves of a state. */
function savedOf({ minute, day }: State): State {
  return { ...newState(), minute: { ...minute }, day: { ...day } };
}

/** A window whose end lies further away than it is long has ended. */
function isRunning(ends: number, length: number, now: number): boolean {
  return ends > now && ends - now <= length;
}

/** A name that no other shop and no address has. */
function shopOf({ accountId, mode }: Pick<Caller, "accountId" | "mode">): string {
  return `the shop ${accountId} ${mode}`;
}

/** A caller of an account, with the given quota. */
export function callerOf(accountId: string, keyId: string, quota: Quota, mode: Mode = "test"): Caller {
  return callerWith({ accountId, keyId, mode, ...quota });
}

// Small limits, so that few requests reach all of them. Two keys share a shop, and its account has another.
const small: Quota = { perMinute: 2, perDay: 5 };
const larger: Quota = { perMinute: 44, perDay: 1_000_000 };
const callers: readonly Caller[] = [
  callerOf("acc_a", "key_a1", small),
  callerOf("acc_a", "key_a2", small),
  callerOf("acc_a", "key_a3", small, "live"),
  callerOf("acc_b", "key_b", larger),
  callerOf("acc_b", "key_b2", larger, "live"),
];

export type Event =
  | { readonly kind: "time passes"; readonly milliseconds: number }
  | { readonly kind: "fast-forward"; readonly accountId: string; readonly milliseconds: number }
  | { readonly kind: "requests"; readonly caller: Caller; readonly times: number };

const timePasses = oneof(
  { weight: 4, arbitrary: constantFrom(1_000, 60_000) },
  { weight: 4, arbitrary: integer({ min: 1, max: 3_000 }) },
  { weight: 3, arbitrary: integer({ min: 10_000, max: 70_000 }) },
  { weight: 1, arbitrary: integer({ min: 1, max: 4_000_000 }) },
  { weight: 1, arbitrary: constantFrom(DAY / 2, DAY, DAY - 1_000) },
).map((milliseconds): Event => ({ kind: "time passes", milliseconds }));

const requests = record({
  caller: constantFrom(...callers),
  times: oneof(integer({ min: 1, max: 3 }), integer({ min: 20, max: 70 })),
}).map(({ caller, times }): Event => ({ kind: "requests", caller, times }));

const fastForward: Arbitrary<Event> = record({
  kind: constant("fast-forward" as const),
  accountId: constantFrom("acc_a", "acc_b"),
  milliseconds: oneof(
    constantFrom(1_000, 60_000, DAY / 2, DAY, DAY - 60_000),
    integer({ min: 1, max: 70 }).map((step) => 1_000 * step),
  ),
});

/** Requests of a few keys, at any time, and fast-forwards of sandboxes. */
export const arbitraryEvent: Arbitrary<Event> = oneof(
  { weight: 3, arbitrary: timePasses },
  { weight: 4, arbitrary: requests },
  { weight: 1, arbitrary: fastForward },
);

/** A story of such events, or of others too; long enough that limits are met and last strikes follow. */
export function storyOf<E>(event: Arbitrary<E>): Arbitrary<E[]> {
  return array(event, { maxLength: 80, size: "max" });
}

/** Any time of a day. */
export const arbitraryStart: Arbitrary<number> = oneof(
  integer({ min: 0, max: DAY - 1 }),
  integer({ min: DAY - 90_000, max: DAY - 1 }),
).map((time) => Date.UTC(2026, 10, 21) + time);

/** Lets the event happen, and expects of the limiter what the model says. */
export async function happen(event: Event, clock: ManualClock, limiter: Limiter, model: LimiterModel): Promise<void> {
  if (event.kind === "time passes") {
    clock.advance(event.milliseconds);
    return;
  }
  if (event.kind === "fast-forward") {
    const { accountId, milliseconds } = event;
    model.bringNearer(accountId, milliseconds);
    await limiter.bringNearer({ accountId, mode: "test" }, milliseconds);
    return;
  }
  for (let time = 0; time < event.times; time++) {
    expect(await limiter.admit(event.caller)).toEqual(model.request(event.caller));
  }
}

/** The same, with requests that come in one turn of the event loop. They are answered in the order of arrival. */
export async function happenAtOnce(
  event: Event,
  clock: ManualClock,
  limiter: Limiter,
  model: LimiterModel,
): Promise<void> {
  if (event.kind !== "requests") return happen(event, clock, limiter, model);
  const sent = Array.from({ length: event.times }, async () => limiter.admit(event.caller));
  const expected = Array.from({ length: event.times }, () => model.request(event.caller));
  expect(await Promise.all(sent)).toEqual(expected);
}
