import { strikesForBan } from "../contract/bans.ts";
import type { Quota } from "../contract/caller.ts";
import type { Admission } from "../http/interfaces.ts";
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

/** Who sends requests, and how many are allowed. */
export interface Sender extends Name {
  /** The key whose strikes count; empty if there are none. */
  readonly keyId: string;
  readonly quota: Quota;
}

/** The requests that a window has admitted, and when it ends, in Unix milliseconds. */
export interface Window {
  used: number;
  ends: number;
}

/** By how many times its plan's minute a sandbox may exceed it in a minute of real time, with fast-forwards. */
export const SANDBOX_MINUTES = 3;

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
  readonly minute: Window;
  readonly day: Window;
  /** The minute of real time, of a sandbox with a fast-forward in it. */
  readonly realMinute: Window | undefined;
  /** How many times each request is counted. */
  readonly weight: number;
}

/** The denial of a key: it began with a 429, and ends when the `Retry-After` has passed. In Unix milliseconds. */
interface Denial {
  since: number;
  until: number;
  strikes: number;
}

/** Windows that are saved. */
export interface SavedWindows {
  readonly minute: Window;
  readonly day: Window;
}

/** Requests that this process admitted without asking Valkey, and the milliseconds until the ends of their windows. */
export interface AdmittedAlone {
  readonly minute: number;
  readonly minuteRest: number;
  readonly day: number;
  readonly dayRest: number;
}

/**
 * The record of a shop, an address or a separate quota: a minute that starts with the first request, the UTC calendar
 * day, and the strikes of its keys, which each day starts without. The script `decide` follows the same rules.
 */
export class Windows {
  readonly kind: Kind;
  readonly owner: string;
  #minute: Window;
  #day: Window;
  /** Kept by the first fast-forward in it. */
  #realMinute: Window | undefined;
  /** By key. */
  #denials: Map<string, Denial> | undefined;
  /** What was admitted in these windows since Valkey stopped answering. */
  #alone = { minute: 0, day: 0 };
  /** True if a request was counted since the last save. */
  isChanged = false;

  constructor({ kind, owner }: Name, saved?: SavedWindows) {
    this.kind = kind;
    this.owner = owner;
    this.#minute = saved?.minute ?? { used: 0, ends: 0 };
    this.#day = saved?.day ?? { used: 0, ends: 0 };
  }

  get saved(): SavedWindows {
    return { minute: this.#minute, day: this.#day };
  }

  /** Decides on requests that come at one instant. Each counts `weight` times. */
  admit({ quota, keyId }: Pick<Sender, "quota" | "keyId">, requests: number, now: number, weight = 1): Decision {
    const minute = isRunning(this.#minute, MINUTE_MS, now) ? this.#minute : { used: 0, ends: now + MINUTE_MS };
    const day = isRunning(this.#day, DAY_MS, now) ? this.#day : { used: 0, ends: endOfDay(now) };
    const realMinute = this.#realMinute && isRunning(this.#realMinute, MINUTE_MS, now) ? this.#realMinute : undefined;
    const { perMinute, perDay } = quota;
    let room = Math.min(roomIn(minute, perMinute, weight), roomIn(day, perDay, weight));
    if (realMinute) room = Math.min(room, roomIn(realMinute, SANDBOX_MINUTES * perMinute, weight));
    const admitted = Math.min(requests, room);
    if (requests > 0 && day !== this.#day) this.#startDay(day);
    if (admitted > 0) {
      if (minute !== this.#minute) this.#startMinute(minute);
      const counted = admitted * weight;
      minute.used += counted;
      day.used += counted;
      if (realMinute) realMinute.used += counted;
      this.#alone.minute += admitted;
      this.#alone.day += admitted;
      this.#denials?.delete(keyId);
    }
    const decision = { admitted, lastStrike: 0, strikes: 0, now, minute, day, realMinute, weight };
    if (admitted < requests && keyId !== "") {
      const ends = now + 1000 * refusal(decision, quota).retryAfter;
      if (admitted > 0) this.#begin(keyId, now, ends);
      else decision.lastStrike = this.#deny(keyId, requests, strikesForBan(perMinute), now, ends);
    }
    if (this.#denials) decision.strikes = this.#denialOf(keyId, now)?.strikes ?? 0;
    return decision;
  }

  /** All windows but the real minute, and the denials of keys, end this many milliseconds earlier. */
  bringNearer(milliseconds: number, now: number): void {
    if (isRunning(this.#minute, MINUTE_MS, now) && !(this.#realMinute && isRunning(this.#realMinute, MINUTE_MS, now))) {
      this.#realMinute = { ...this.#minute };
    }
    for (const window of [this.#minute, this.#day]) window.ends -= milliseconds;
    for (const denial of this.#denials?.values() ?? []) {
      denial.since -= milliseconds;
      denial.until -= milliseconds;
    }
  }

  /** Continues from the windows of a decision of Valkey, whose clock is `now` at the same time. */
  continueFrom({ minute, day, realMinute, now: theirs }: Decision, now: number): void {
    const here = ({ used, ends }: Window) => ({ used, ends: ends - theirs + now });
    this.#minute = here(minute);
    this.#day = here(day);
    this.#realMinute = realMinute && here(realMinute);
    this.#alone = { minute: 0, day: 0 };
  }

  /** Returns what was admitted without Valkey in windows that still run, and forgets it; undefined if there is nothing. */
  takeAlone(now: number): AdmittedAlone | undefined {
    const [minuteRest, dayRest] = [this.#minute.ends - now, this.#day.ends - now];
    const [minute, day] = [minuteRest > 0 ? this.#alone.minute : 0, dayRest > 0 ? this.#alone.day : 0];
    this.#alone = { minute: 0, day: 0 };
    return minute > 0 || day > 0 ? { minute, minuteRest, day, dayRest } : undefined;
  }

  /** Takes back what could not be added to the counts in Valkey. */
  putBackAlone({ minute, day }: AdmittedAlone): void {
    this.#alone.minute += minute;
    this.#alone.day += day;
  }

  #startMinute(minute: Window): void {
    this.#minute = minute;
    this.#alone.minute = 0;
  }

  #startDay(day: Window): void {
    this.#day = day;
    this.#alone.day = 0;
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
export function roomIn({ used }: Window, limit: number, weight: number): number {
  return Math.max(0, Math.floor((limit - used) / weight));
}

/** The figures of the used-up window that ends last; of the day if another one ends in the same second. */
export function refusal(decision: Decision, { perMinute, perDay }: Quota): Admission {
  const { minute, day, realMinute } = decision;
  let [limit, { ends }, retryAfter] = [perDay, day, waitFor(day, perDay, decision)];
  const forMinute = waitFor(minute, perMinute, decision);
  if (forMinute > retryAfter) [limit, ends, retryAfter] = [perMinute, minute.ends, forMinute];
  if (realMinute) {
    const forReal = waitFor(realMinute, SANDBOX_MINUTES * perMinute, decision);
    if (forReal > retryAfter) [limit, ends, retryAfter] = [SANDBOX_MINUTES * perMinute, realMinute.ends, forReal];
  }
  return { verdict: "limited", limit, remaining: 0, reset: seconds(ends), retryAfter };
}

/** Whole seconds until a window has room; 0 if it has. */
function waitFor(window: Window, limit: number, { weight, now }: Decision): number {
  return roomIn(window, limit, weight) > 0 ? 0 : retryAfterOf(window.ends - now);
}

/** Rounded up: at that second the window has ended. */
export function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
