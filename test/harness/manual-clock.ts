import type { Clock } from "../../src/timing/clock.ts";

/** 2026-11-21T12:00:00Z, a Saturday. */
export const NOON = Date.UTC(2026, 10, 21, 12);

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #wall: number;
  #monotonic = 1_000_000;

  constructor(wall = NOON) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** Time passes: both clocks continue. */
  advance(milliseconds: number): void {
    this.#wall += milliseconds;
    this.#monotonic += milliseconds;
  }

  /** The wall clock is set. A fraction of a millisecond passes, as a monotonic clock counts them. */
  setWall(wall: number): void {
    this.#wall = wall;
    this.#monotonic += 0.01;
  }
}
