import { useEffect, useReducer } from "preact/hooks";

/** A value that parts of the page watch. */
export class Watchable<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of this.#watchers) watcher();
  }

  /** Returns a function that stops watching. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** Returns a function that renders the component again. */
export const useRerender = (): (() => void) => useReducer((count: number) => count + 1, 0)[1] as () => void;

/** The current value; the component renders again when it changes. */
export function useWatchable<T>(watchable: Watchable<T>): T {
  const rerender = useRerender();
  const rendered = watchable.value;
  useEffect(() => {
    if (!Object.is(watchable.value, rendered)) rerender(); // it changed between rendering and watching
    return watchable.watch(() => rerender());
  }, [watchable]);
  return rendered;
}

// Small texts that this browser keeps. Users block the storage, and it can be full: then they last as long as the page.

/** The text that is kept under a name. */
export function stored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text; without one, keeps nothing under the name. */
export function store(name: string, text?: string): void {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // see above
  }
}
