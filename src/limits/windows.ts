import type { Quota } from "../contract/caller.ts";
import type { Limited, WindowName } from "../contract/limits.ts";
import { DAY_MS, MINUTE_MS, retryAfterOf } from "../timing/clock.ts";

/** For this long after the first 429, in milliseconds, requests are not strikes: they may already have been sent. */
export const GRACE = 1_000;

/** What is counted: requests of a shop, of an address, or with a separate quota of an account or a shop. */
export const kinds = ["live", "test", "address", "sandbox", "live-plan", "test-plan"] as const;
export type Kind = (typeof kinds)[number];

/** Names a record of windows. */
export interface Name {
  readonly kind: Kind;
  /** An account or an address. */
  readonly owner: string;
}

/** How many requests a window admits. */
export interface Limit {
  readonly window: WindowName;
  /** Names the window in its record. */
  readonly field: string;
  /** Of the window, in milliseconds. */
  readonly length: number;
  readonly requests: number;
}

/** The limits of a quota and, for a key that has one, its own. Of windows with equal figures, the first is shown. */
export function limitsOf({ perMinute, perDay }: Quota, keyId = "", ofKey: number | null = null): readonly Limit[] {
  const day: Limit = { window: "day", field: "day", length: DAY_MS, requests: perDay };
  const minute: Limit = { window: "minute", field: "minute", length: MINUTE_MS, requests: perMinute };
  if (ofKey === null) return [day, minute];
  return [day, minute, { window: "key", field: `${keyId}:minute`, length: MINUTE_MS, requests: ofKey }];
}

/** Who sends requests, and how many are allowed. */
export interface Sender extends Name {
  /** The key whose strikes count; empty if there are none. */
  readonly keyId: string;
  readonly limits: readonly Limit[];
  /** The number of strikes that leads to a ban. */
  readonly strikesForBan: number;
}

/** The requests that a window has admitted, and when it ends, in Unix milliseconds. */
export interface Window {
  used: number;
  ends: number;
}

/** A window that a record keeps. */
interface KeptWindow extends Window {
  readonly length: number;
  /** The requests that it has admitted since Valkey stopped answering. */
  alone: number;
}

/** A limit, and its window after a decision. */
export interface LimitedWindow {
  readonly limit: Limit;
  readonly window: Readonly<Window>;
}

/**
 * The decision on requests that a sender sends at one instant, and its windows after it. In the order of arrival, the
 * first requests are admitted, and the rest are denied.
 */
export interface Decision {
  readonly admitted: number;
  /** Which of the denied requests is the last strike of the key, from 1; 0 for none. */
  readonly lastStrike: number;
  /** The strikes of the key that count now. */
  readonly strikes: number;
  /** In Unix milliseconds, by the clock that decides. */
  readonly now: number;
  /** In the order of the sender's limits. */
  readonly windows: readonly LimitedWindow[];
  /** How many times each request is counted. */
  readonly weight: number;
}

/** The denial of a key: it began with a 429, and ends when the `Retry-After` has passed. In Unix milliseconds. */
interface Denial {
  since: number;
  until: number;
  strikes: number;
}

/** A window that is saved. */
export type SavedWindow = readonly [field: string, length: number, used: number, ends: number];

/** Requests that this process admitted in a window without asking Valkey, and the milliseconds until its end. */
export interface AdmittedAlone {
  readonly field: string;
  readonly length: number;
  readonly requests: number;
  readonly rest: number;
}

/**
 * The record of a shop, an address or a separate quota: the UTC calendar day, minutes that start with their first request,
 * and the strikes of its keys, which each day starts without. The script `decide` follows the same rules.
 */
export class Windows {
  readonly kind: Kind;
  readonly owner: string;
  /** By field. */
  #windows: Record<string, KeptWindow>;
  /** By key. */
  #denials: Map<string, Denial> | undefined;
  /** True if a request was counted since the last save. */
  isChanged = false;

  constructor({ kind, owner }: Name, saved: readonly SavedWindow[] = []) {
    this.kind = kind;
    this.owner = owner;
    this.#windows = Object.fromEntries(
      saved.map(([field, length, used, ends]) => [field, { length, used, ends, alone: 0 }]),
    );
  }

  get saved(): SavedWindow[] {
    return Object.entries(this.#windows).map(([field, { length, used, ends }]) => [field, length, used, ends]);
  }

  /** Decides on requests that come at one instant. Each counts `weight` times. */
  admit(
    { limits, keyId, strikesForBan }: Omit<Sender, keyof Name>,
    requests: number,
    now: number,
    weight = 1,
  ): Decision {
    const windows = limits.map((limit) => ({ limit, window: this.#current(limit, now) }));
    let admitted = requests;
    for (const one of windows) admitted = Math.min(admitted, roomIn(one, weight));
    const [day] = windows;
    if (requests > 0 && day && this.#windows[day.limit.field] !== day.window) {
      this.#startDay(now);
      this.#windows[day.limit.field] = day.window;
    }
    if (admitted > 0) {
      for (const { limit, window } of windows) {
        this.#windows[limit.field] = window;
        window.used += admitted * weight;
        window.alone += admitted;
      }
      this.#denials?.delete(keyId);
    }
    const decision = { admitted, lastStrike: 0, strikes: 0, now, windows, weight };
    if (admitted < requests && keyId !== "") {
      const ends = now + 1000 * refusal(decision).retryAfter;
      if (admitted > 0) this.#begin(keyId, now, ends);
      else decision.lastStrike = this.#deny(keyId, requests, strikesForBan, now, ends);
    }
    if (this.#denials) decision.strikes = this.#denialOf(keyId, now)?.strikes ?? 0;
    return decision;
  }

  /** Continues from the windows of a decision of Valkey, whose clock is `now` at the same time. */
  continueFrom({ windows, now: theirs }: Decision, now: number): void {
    const day = this.#windows["day"];
    if (day && !isRunning(day, DAY_MS, now)) this.#startDay(now);
    for (const { limit, window } of windows) {
      const { field, length } = limit;
      this.#windows[field] = { length, used: window.used, ends: window.ends - theirs + now, alone: 0 };
    }
  }

  /** Returns what was admitted without Valkey in windows that still run, and forgets it. */
  takeAlone(now: number): AdmittedAlone[] {
    const taken: AdmittedAlone[] = [];
    for (const [field, window] of Object.entries(this.#windows)) {
      const { length, alone: requests, ends } = window;
      if (requests > 0 && ends > now) taken.push({ field, length, requests, rest: ends - now });
      window.alone = 0;
    }
    return taken;
  }

  /** Takes back what could not be added to the counts in Valkey. */
  putBackAlone(taken: readonly AdmittedAlone[]): void {
    for (const { field, requests } of taken) {
      const window = this.#windows[field];
      if (window) window.alone += requests;
    }
  }

  #current({ field, length }: Limit, now: number): KeptWindow {
    const window = this.#windows[field];
    if (window && isRunning(window, length, now)) return window;
    return { length, used: 0, ends: length === DAY_MS ? endOfDay(now) : now + length, alone: 0 };
  }

  /** A day starts without strikes, and with the minutes that run. */
  #startDay(now: number): void {
    const running = Object.entries(this.#windows).filter(([, window]) => isRunning(window, window.length, now));
    this.#windows = Object.fromEntries(running);
    this.#denials = undefined;
  }

  /** Counts requests of a key none of which was admitted. Returns which of them is the last strike, from 1; 0 for none. */
  #deny(keyId: string, requests: number, allowed: number, now: number, ends: number): number {
    const denial = this.#denialOf(keyId, now);
    if (!denial) {
      this.#begin(keyId, now, ends);
      return 0;
    }
    // Parallel requests get different times. Waiting for any of them must be enough.
    denial.until = Math.min(denial.until, ends);
    if (now - denial.since < GRACE) return 0;
    const untilBan = Math.max(1, allowed - denial.strikes);
    denial.strikes += requests;
    if (requests < untilBan) return 0;
    this.#denials?.delete(keyId);
    if (requests > untilBan) this.#begin(keyId, now, ends);
    return untilBan;
  }

  #begin(keyId: string, now: number, ends: number): void {
    this.#denials ??= new Map();
    this.#denials.set(keyId, { since: now, until: ends, strikes: 0 });
  }

  /** The denial of a key that runs. */
  #denialOf(keyId: string, now: number): Denial | undefined {
    const denial = this.#denials?.get(keyId);
    return denial && now < denial.until && denial.until <= now + DAY_MS ? denial : undefined;
  }
}

/** False for an end that lies further away than a window of this length can end: the clock was set. */
function isRunning({ ends }: Window, length: number, now: number): boolean {
  return now < ends && ends <= now + length;
}

/** Of the UTC day. */
function endOfDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

/** How many more requests fit into a window. */
export function roomIn({ limit, window }: LimitedWindow, weight: number): number {
  return Math.max(0, Math.floor((limit.requests - window.used) / weight));
}

/** The figures of the used-up window that ends last; of the first if several end in the same second. */
export function refusal({ windows, now, weight }: Decision): Limited {
  let [last, retryAfter] = [windows[0] as LimitedWindow, -1];
  for (const one of windows) {
    const wait = roomIn(one, weight) > 0 ? 0 : retryAfterOf(one.window.ends - now);
    if (wait > retryAfter) [last, retryAfter] = [one, wait];
  }
  const { requests: limit, window } = last.limit;
  return { verdict: "limited", limit, remaining: 0, reset: seconds(last.window.ends), retryAfter, window };
}

/** Rounded up: at that second the window has ended. */
export function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
