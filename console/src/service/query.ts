import { useLayoutEffect, useRef } from "preact/hooks";
import { useRerender } from "../watchable.ts";

/** When a page opens, data younger than this are shown without a new request, in milliseconds. */
const FRESH_TIME = 5_000;
/** Above this many entries, those that no open page uses are deleted. */
const MAX_ENTRIES = 100;

interface Entry {
  data?: unknown;
  error?: unknown;
  at: number;
  isLoading: boolean;
  /** Incremented with each request, so that a late response of an older request is ignored. */
  requestNumber: number;
  /** Changes made while a request was in flight: its response may not include them. */
  changes: ((data: unknown) => unknown)[];
  /** The components that show the entry: what renders each again, and its `reload`. One `reload` is enough for all. */
  readonly components: Map<() => void, () => void>;
}

const entries = new Map<string, Entry>();

function renderAgain({ components }: Entry): void {
  for (const render of components.keys()) render();
}

function entryOf(key: string): Entry {
  let entry = entries.get(key);
  if (!entry) {
    entries.set(key, (entry = { at: 0, isLoading: false, requestNumber: 0, changes: [], components: new Map() }));
    for (const [other, { components }] of entries) {
      if (entries.size <= MAX_ENTRIES) break;
      if (components.size === 0 && other !== key) entries.delete(other);
    }
  }
  return entry;
}

async function fetchEntry<T>(key: string, load: () => Promise<T>): Promise<void> {
  const entry = entryOf(key);
  const requestNumber = ++entry.requestNumber;
  entry.isLoading = true;
  entry.changes = [];
  renderAgain(entry);
  try {
    const loaded = await load();
    if (requestNumber === entry.requestNumber) {
      const data = entry.changes.reduce<unknown>((current, change) => change(current), loaded);
      Object.assign(entry, { data, error: undefined, at: Date.now() });
    }
  } catch (error) {
    if (requestNumber === entry.requestNumber) entry.error = error;
  }
  if (requestNumber === entry.requestNumber) entry.isLoading = false;
  renderAgain(entry);
}

let componentCount = 0;
const pendingStarts: { readonly order: number; readonly start: () => void }[] = [];

/**
 * Sends the requests of one rendering in the order of the components: a list before the names in its filters. The client
 * sends the first request alone, to learn the limits, so its response is shown first.
 */
function startInOrder(order: number, start: () => void): void {
  if (pendingStarts.push({ order, start }) > 1) return;
  queueMicrotask(() => {
    for (const next of pendingStarts.splice(0).toSorted((one, other) => one.order - other.order)) next.start();
  });
}

/** A key and its request, as `useQuery` takes them. */
export type QueryInputs<T> = readonly [key: string, load: () => Promise<T>];

/** Sends a query that a page will ask for. Never rejects. */
export const preload = (query: QueryInputs<unknown> | undefined): Promise<void> | undefined =>
  query && fetchEntry(...query);

/** The state of a query. Old data stay while a new request is in flight, and if it fails. */
export interface QueryResult<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/**
 * Sends a query, and again whenever `key` changes or `invalidate` is called for it. Keys name the query: `pets?status=sold`.
 * Components with the same key share the entry. Without a key no request is sent. If `isFollowed`, events keep the data up
 * to date: a page that opens does not request them again.
 */
export function useQuery<T>(key: string | undefined, load: () => Promise<T>, isFollowed = false): QueryResult<T> {
  const rerender = useRerender();
  const latest = useRef(load);
  latest.current = load;
  const order = useRef(0);
  order.current ||= ++componentCount;
  const reload = () => void (key !== undefined && fetchEntry(key, () => latest.current()));
  // A layout effect sends the request before the browser paints, so that both happen at the same time.
  useLayoutEffect(() => {
    if (key === undefined) return undefined;
    const render = () => rerender();
    const entry = entryOf(key);
    entry.components.set(render, reload);
    startInOrder(order.current, () => {
      const isKnown = isFollowed && entry.at > 0;
      if (!entry.isLoading && !isKnown && Date.now() - entry.at > FRESH_TIME) reload();
      else render();
    });
    return () => void entry.components.delete(render);
  }, [key]);
  const entry = key === undefined ? undefined : entries.get(key);
  return { data: entry?.data as T | undefined, error: entry?.error, reload };
}

/** Marks as outdated all entries whose keys begin with one of the prefixes. Those on the screen are requested again at once. */
export function invalidate(...prefixes: string[]): void {
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue;
    entry.at = 0;
    entry.components.values().next().value?.();
  }
}

/**
 * Changes cached data without a request. `keyOrPrefix` is a key, or, if it ends with a question mark, the beginning of keys.
 * `change` returns the same value to leave it unchanged.
 */
export function updateCache<T>(keyOrPrefix: string, change: (data: T) => T): void {
  for (const [key, entry] of entries) {
    const matches = key === keyOrPrefix || (keyOrPrefix.endsWith("?") && key.startsWith(keyOrPrefix));
    if (!matches) continue;
    if (entry.isLoading) entry.changes.push(change as (data: unknown) => unknown);
    if (entry.data === undefined) continue;
    const data = change(entry.data as T);
    if (data === entry.data) continue;
    entry.data = data;
    renderAgain(entry);
  }
}

/** Deletes everything when the user signs out, because the next user may not see it. */
export function clearCache(): void {
  entries.clear();
}
