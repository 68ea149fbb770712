/** True in a long run of the tests, which takes minutes: `npm run torture` starts one. */
export const isLongRun = process.env["TORTURE"] === "long";

/** The longest that a test may take, in milliseconds. It bounds a test that hangs. */
export const testTimeout = isLongRun ? 1_800_000 : 240_000;

/** The number of repetitions in a short run and in a long one. */
export function rounds(short: number, long: number): number {
  return isLongRun ? long : short;
}
