/**
 * Time, as two clocks that tests can set. `now` is the wall clock in unix milliseconds: it can be
 * wrong and can jump. `monotonic` counts milliseconds from an arbitrary start and never goes back:
 * whatever lasts for a stated time is measured with it.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
