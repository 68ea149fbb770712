import { DAY_MS } from "../timing/clock.ts";

/** The bans of a key, which are stored with it. */
export interface KeyBans {
  /** When its last ban ends or ended, in Unix milliseconds; null if it had none, or its last one was lifted. */
  readonly bannedUntil: number | null;
  /** How many bans it had in a row. */
  readonly bans: number;
}

/**
 * By how much the clocks of processes may differ, in seconds. Without it, a process that is behind by a moment would take a
 * new ban of another one as over, and begin a second one, which lasts twice as long.
 */
const CLOCK_DIFFERENCE = 10;

/** How long bans last, in seconds. */
export const banSchedule = {
  /** The first. Each further one lasts twice as long. */
  first: 60,
  longest: 3_600,
  /** After this time without a ban, the next one is a first one again. */
  forgottenAfter: DAY_MS / 1000,
};

/** The number of strikes that leads to a ban. `perMinute` is the minute limit of the key's account. */
export function strikesForBan(perMinute: number): number {
  return Math.max(20, Math.floor(perMinute / 2));
}

/**
 * When the current ban of a key ends, in Unix milliseconds; undefined if there is none. A ban that ends later than it
 * can, because the clock was set back, is over.
 */
export function banEnd({ bannedUntil, bans }: KeyBans, now: number): number | undefined {
  if (bannedUntil === null || bannedUntil <= now) return undefined;
  return bannedUntil <= now + 1000 * (banSeconds(bans) + CLOCK_DIFFERENCE) ? bannedUntil : undefined;
}

/** The next ban of a key, if it began now, and how many seconds it would last. */
export function nextBan({ bannedUntil, bans }: KeyBans, now: number) {
  const isForgotten = bannedUntil === null || now - bannedUntil >= 1000 * banSchedule.forgottenAfter;
  const next = isForgotten ? 1 : bans + 1;
  const seconds = banSeconds(next);
  return { bannedUntil: now + 1000 * seconds, bans: next, seconds };
}

/** How many seconds a key's ban with this number lasts, counted from 1. */
function banSeconds(number: number): number {
  return Math.min(banSchedule.longest, banSchedule.first * 2 ** (number - 1));
}

/** A ban of a key. */
export interface Ban {
  /** When it ends, in Unix milliseconds. */
  readonly until: number;
  /** How many seconds it lasts; undefined if it began earlier. */
  readonly seconds: number | undefined;
}
