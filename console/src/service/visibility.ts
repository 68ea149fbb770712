/**
 * Calls `run` whenever the tab becomes visible, until the returned function is called. With `once`, the tab must be
 * hidden, and `run` is called only the next time.
 */
export function onVisible(run: () => void, once = false): () => void {
  const look = () => document.hidden || run();
  document.addEventListener("visibilitychange", look, { once });
  return () => document.removeEventListener("visibilitychange", look);
}

/** Resolves as soon as the tab is visible. */
export const untilVisible = (): Promise<void> =>
  new Promise((resolve) => void (document.hidden ? onVisible(resolve, true) : resolve()));
