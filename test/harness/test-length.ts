/** True in a long run of the tests, which takes minutes: `npm run torture` starts one. */
export const isLongRun = process.env["TORTURE"] === "long";

/** The longest that a test may take, in milliseconds. It bounds a test that hangs. */
export const testTimeout = isLongRun ? 1_800_000 : 240_000;

/** The number of repetitions in a short run and in a long one. */
export function rounds(short: number, long: number): number {
  return isLongRun ? long : short;
}

/**
 * A bound of real time, in milliseconds: the promised one in a long run. A short run may share its machine, where
 * processes, the database and the disk pause for a second: its bound is so wide that only wrong code exceeds it.
 */
export function timeBound(wide: number, promised: number): number {
  return isLongRun ? promised : wide;
}

/** Within this time, a change of keys, plans or shops by one process applies in all processes. */
export const EVERYWHERE_WITHIN = timeBound(5_000, 1_000);
