import { expect } from "bun:test";
import { type Arbitrary, array, constantFrom, integer, oneof, record } from "fast-check";
import type { Caller, Mode, Quota } from "../../src/contract/caller.ts";
import type { LimiterAdmission, WindowName } from "../../src/contract/limits.ts";
import type { Limiter } from "../../src/http/interfaces.ts";
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
  /** The own minutes of keys. */
  readonly keys: Map<string, Window>;
  readonly denials: Map<string, Denial>;
}

const newWindow = (): Window => ({ used: 0, ends: 0 });
const newState = (): State => ({ minute: newWindow(), day: newWindow(), keys: new Map(), denials: new Map() });

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

  request(caller: Caller): LimiterAdmission {
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

  /** What was counted until now is on disk: the minute and the day. */
  save(): void {
    this.#saved = new Map([...this.#states].map(([who, state]) => [who, savedOf(state)]));
  }

  /** The limiter starts again and knows what is on disk. */
  restart(): void {
    this.#states = this.#saved;
    this.save();
  }

  #count(state: State, caller: Caller, now: number): LimiterAdmission {
    if (!isRunning(state.day.ends, DAY, now)) {
      state.day = { used: 0, ends: (Math.floor(now / DAY) + 1) * DAY };
      state.denials.clear();
      for (const window of [state.minute, ...state.keys.values()])
        if (!isRunning(window.ends, MINUTE, now)) window.ends = 0;
    }
    const minute = isRunning(state.minute.ends, MINUTE, now) ? state.minute : { used: 0, ends: now + MINUTE };
    const windows: { name: WindowName; window: Window; limit: number }[] = [
      { name: "day", window: state.day, limit: caller.perDay },
      { name: "minute", window: minute, limit: caller.perMinute },
    ];
    if (caller.limitPerMinute !== null) {
      const known = state.keys.get(caller.keyId) ?? newWindow();
      const window = isRunning(known.ends, MINUTE, now) ? known : { used: 0, ends: now + MINUTE };
      windows.push({ name: "key", window, limit: caller.limitPerMinute });
    }
    const full = windows.filter(({ window, limit }) => window.used >= limit);
    if (full.length === 0) {
      state.minute = minute;
      for (const { name, window } of windows) if (name === "key") state.keys.set(caller.keyId, window);
      for (const { window } of windows) window.used++;
      const left = windows.map(({ window, limit }) => limit - window.used);
      const least = left.indexOf(Math.min(...left));
      const { window, limit } = windows[least] as (typeof windows)[number];
      const remaining = Math.max(0, limit - window.used);
      return { verdict: "admitted", limit, remaining, reset: Math.ceil(window.ends / 1000), retryAfter: 0 };
    }
    const waits = full.map(({ window }) => Math.ceil((window.ends - now) / 1000));
    const longest = Math.max(...waits);
    const { name, window, limit } = full[waits.indexOf(longest)] as (typeof full)[number];
    const reset = Math.ceil(window.ends / 1000);
    return { verdict: "limited", limit, remaining: 0, reset, retryAfter: longest, window: name };
  }
}

/** What a restart leaves of a state. */
function savedOf({ minute, day, keys }: State): State {
  const saved = new Map([...keys].map(([key, window]) => [key, { ...window }]));
  return { ...newState(), minute: { ...minute }, day: { ...day }, keys: saved };
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
export function callerOf(accountId: string, keyId: string, quota: Partial<Caller>, mode: Mode = "test"): Caller {
  return callerWith({ accountId, keyId, mode, ...quota });
}

// Small limits, so that few requests reach all of them. Keys share a shop, some have their own limit, and each account has
// another shop.
const small: Quota = { perMinute: 2, perDay: 5 };
const larger: Quota = { perMinute: 44, perDay: 1_000_000 };
const callers: readonly Caller[] = [
  callerOf("acc_a", "key_a1", small),
  callerOf("acc_a", "key_a2", { ...small, limitPerMinute: 1 }),
  callerOf("acc_a", "key_a3", small, "live"),
  callerOf("acc_b", "key_b", larger),
  callerOf("acc_b", "key_b3", { ...larger, limitPerMinute: 20 }),
  callerOf("acc_b", "key_b2", larger, "live"),
];

export type Event =
  | { readonly kind: "time passes"; readonly milliseconds: number }
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

/** Requests of a few keys, at any time. */
export const arbitraryEvent: Arbitrary<Event> = oneof(
  { weight: 3, arbitrary: timePasses },
  { weight: 4, arbitrary: requests },
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
