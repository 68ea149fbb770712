import { expect } from "bun:test";
import { type Arbitrary, array, constant, constantFrom, integer, oneof, record } from "fast-check";
import type { Caller, Mode, Quota } from "../../src/contract/caller.ts";
import type { Admission, Limiter } from "../../src/http/interfaces.ts";
import { callerWith } from "../harness/callers.ts";
import type { ManualClock } from "../harness/manual-clock.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

/** A moment by the clock of a shop, which is `ahead` milliseconds ahead of real time. */
interface Instant {
  readonly wall: number;
  readonly monotonic: number;
  readonly ahead: number;
}

interface KeyState {
  /** The current series of denials: when it began, when the key may send again, and how many requests came before that. */
  denial?: { readonly since: number; until: number; strikes: number } | undefined;
}

/**
 * What a limiter must answer, worked out from the list of all requests that were ever admitted:
 * slow, and simple enough to be seen to be right. Engines are compared with it.
 */
export class LimiterModel {
  readonly #clock: ManualClock;
  /** The admitted requests of each shop and address. */
  readonly #admitted = new Map<string, Instant[]>();
  #keys = new Map<string, KeyState>();
  /** How far the clocks of sandboxes are ahead, by account. */
  #ahead = new Map<string, number>();
  /** How many of them are on disk. */
  #saved = new Map<string, number>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  request(caller: Caller): Admission {
    const key = this.#keys.get(caller.keyId) ?? {};
    this.#keys.set(caller.keyId, key);
    const now = this.#now(caller);
    const admission = this.#count(shopOf(caller), caller, now);
    if (admission.verdict === "admitted") {
      key.denial = undefined;
      return admission;
    }
    const until = now.monotonic + admission.retryAfter * 1000;
    if (!key.denial || now.monotonic >= key.denial.until) {
      key.denial = { since: now.monotonic, until, strikes: 0 };
      return admission;
    }
    key.denial.until = Math.min(key.denial.until, until);
    if (now.monotonic >= key.denial.since + 1_000) key.denial.strikes++;
    if (key.denial.strikes < Math.max(20, Math.floor(caller.perMinute / 2))) return admission;
    key.denial = undefined;
    return { ...admission, isLastStrike: true };
  }

  requestOfAddress(address: string, quota: Quota): Admission {
    return this.#count(address, quota, this.#now());
  }

  /** Advances the clock of an account's sandbox by this many milliseconds. Returns how far it is ahead of real time. */
  advance(accountId: string, milliseconds: number): number {
    const ahead = (this.#ahead.get(accountId) ?? 0) + milliseconds;
    this.#ahead.set(accountId, ahead);
    return ahead;
  }

  /** What was admitted until now is on disk. */
  save(): void {
    this.#saved = new Map([...this.#admitted].map(([who, own]) => [who, own.length]));
  }

  /** The limiter starts again and knows what is on disk: the counts that were saved. */
  restart(): void {
    for (const [who, own] of this.#admitted) own.length = this.#saved.get(who) ?? 0;
    for (const key of this.#keys.values()) key.denial = undefined;
  }

  /** The moment for a caller; the real one for others. */
  #now(caller?: Caller): Instant {
    const ahead = caller?.mode === "test" ? (this.#ahead.get(caller.accountId) ?? 0) : 0;
    return { wall: this.#clock.now() + ahead, monotonic: this.#clock.monotonic() + ahead, ahead };
  }

  #count(who: string, quota: Quota, now: Instant): Admission {
    const own = this.#admitted.getOrInsertComputed(who, () => []);
    const { minute, day } = windowsOf(own, quota, now);
    if (minute.left > 0 && day.left > 0) {
      own.push(now);
      const after = windowsOf(own, quota, now);
      return this.#admission("admitted", after.minute.left < after.day.left ? after.minute : after.day);
    }
    if (day.left > 0) return this.#admission("limited", minute);
    if (minute.left > 0) return this.#admission("limited", day);
    return this.#admission("limited", seconds(minute.rest) > seconds(day.rest) ? minute : day);
  }

  #admission(
    verdict: Admission["verdict"],
    window: { readonly limit: number; readonly left: number; readonly rest: number },
  ): Admission {
    return {
      verdict,
      limit: window.limit,
      remaining: window.left,
      reset: seconds(this.#clock.now() + window.rest),
      retryAfter: verdict === "admitted" ? 0 : seconds(window.rest),
    };
  }
}

/** The current windows of a shop or an address, from its admitted requests. */
function windowsOf(admitted: readonly Instant[], quota: Quota, now: Instant) {
  let start = Number.NEGATIVE_INFINITY;
  for (const { monotonic } of admitted) if (monotonic >= start + MINUTE) start = monotonic;
  if (now.monotonic >= start + MINUTE) start = now.monotonic;
  const today = dayOf(now.wall);
  let [inMinute, inDay] = [0, 0];
  for (const { monotonic, wall } of admitted) {
    if (monotonic >= start) inMinute++;
    if (dayOf(wall) === today) inDay++;
  }
  return {
    minute: { limit: quota.perMinute, left: quota.perMinute - inMinute, rest: start + MINUTE - now.monotonic },
    day: { limit: quota.perDay, left: quota.perDay - inDay, rest: (today + 1) * DAY - now.wall },
  };
}

/** Whole seconds, rounded up, so that a client that waits for them has waited long enough. */
function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

function dayOf(wall: number): number {
  return Math.floor(wall / DAY);
}

/** A name that no other shop and no address has. */
function shopOf({ accountId, mode }: Caller): string {
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
  | { readonly kind: "sandbox advances"; readonly accountId: string; readonly milliseconds: number }
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

const sandboxAdvances: Arbitrary<Event> = record({
  kind: constant("sandbox advances" as const),
  accountId: constantFrom("acc_a", "acc_b"),
  milliseconds: oneof(
    constantFrom(1_000, 60_000, DAY / 2, DAY, DAY - 60_000),
    integer({ min: 1, max: 70 }).map((step) => 1_000 * step),
  ),
});

/** Requests of a few keys, at any time, and sandboxes whose clocks are advanced. */
export const arbitraryEvent: Arbitrary<Event> = oneof(
  { weight: 3, arbitrary: timePasses },
  { weight: 4, arbitrary: requests },
  { weight: 1, arbitrary: sandboxAdvances },
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
  if (event.kind === "sandbox advances") {
    const { accountId, milliseconds } = event;
    await limiter.setClockOffset({ accountId, mode: "test" }, model.advance(accountId, milliseconds));
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
