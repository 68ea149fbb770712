/** The long form of the tests, which takes minutes: `npm run torture` asks for it. */
export const longForm = process.env["TORTURE"] === "long";

/** The number of repetitions in the short form and in the long one. */
export function rounds(short: number, long: number): number {
  return longForm ? long : short;
}
