/** Throws if the two are not the same; a bigint and a number are different. It uses no test runner. */
export function same(actual: unknown, expected: unknown): void {
  const [is, must] = [show(actual), show(expected)];
  if (is !== must) throw new Error(`It is ${is}, but must be ${must}.`);
}

function show(value: unknown): string {
  return (
    JSON.stringify(value, (_, field: unknown) => (typeof field === "bigint" ? `${field}n` : (field ?? null))) ??
    "undefined"
  );
}

/** The error that something fails with. Fails if it does not. */
export async function failureOf(action: () => unknown): Promise<Error & Record<string, unknown>> {
  try {
    await action();
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("It did not fail.");
}

/** Fails unless the text matches. */
export function matches(text: string, pattern: RegExp): void {
  if (!pattern.test(text)) throw new Error(`${JSON.stringify(text)} does not match ${pattern}.`);
}
