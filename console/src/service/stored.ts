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
