/** What some work fails with; undefined if it succeeds. */
export async function failureOf(work: Promise<unknown> | (() => unknown)): Promise<Error | undefined> {
  try {
    await (typeof work === "function" ? work() : work);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
