import { onAbort } from "./clock.ts";

/**
 * A generator whose `return` and `throw` take effect at once. Those of an async generator wait for the `next` that was
 * called before them, which can wait for as long as nothing happens in the shop. `items` must end with its signal.
 */
export function endable<T>(
  parent: AbortSignal | undefined,
  items: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T, void, void> {
  const end = new AbortController();
  let isEnded = false;
  async function* run(): AsyncGenerator<T, void, void> {
    parent?.throwIfAborted();
    const leave = parent && onAbort(parent, () => end.abort(parent.reason));
    try {
      yield* items(end.signal);
    } catch (error) {
      if (!isEnded) throw error;
    } finally {
      leave?.();
    }
  }
  const generator = run();
  for (const name of ["return", "throw"] as const) {
    const finish = generator[name].bind(generator);
    generator[name] = (value: unknown) => {
      isEnded = true;
      end.abort();
      return finish(value);
    };
  }
  return generator;
}
