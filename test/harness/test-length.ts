/** True in a long run of the tests, which takes minutes: `npm run torture` starts one. */
export const isLongRun = process.env["TORTURE"] === "long";

/** The number of repetitions in a short run and in a long one. */
export function rounds(short: number, long: number): number {
  return isLongRun ? long : short;
}
