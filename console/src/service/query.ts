import { useLayoutEffect, useReducer, useRef } from "preact/hooks";

/** When a page opens, an answer that is younger than this is shown without a new request, in milliseconds. */
const FRESH = 5_000;
/** How many answers are cached for pages that are not open. */
const MAX_RECORDS = 100;

interface Answer {
  data?: unknown;
  error?: unknown;
  at: number;
  isLoading: boolean;
  /** Incremented with each request, so that a late response of an older request is ignored. */
  turn: number;
  /** Changes made while a request was in flight: its response may not include them. */
  changes: ((data: unknown) => unknown)[];
  readonly load: Map<symbol, () => void>;
}

const answers = new Map<string, Answer>();
const drawers = new Map<string, Set<() => void>>();

let onFailure: (error: unknown) => void = () => {};
/** Calls `watcher` with each error, in addition to showing it. */
export function watchFailures(watcher: (error: unknown) => void): void {
  onFailure = watcher;
}

/** Reports an error of a request that is no query. */
export const reportFailure = (error: unknown): void => onFailure(error);

function draw(key: string): void {
  for (const drawer of drawers.get(key) ?? []) drawer();
}

function answerOf(key: string): Answer {
  let answer = answers.get(key);
  if (!answer) {
    answers.set(key, (answer = { at: 0, isLoading: false, turn: 0, changes: [], load: new Map() }));
    for (const [other, { load }] of answers) {
      if (answers.size <= MAX_RECORDS) break;
      if (load.size === 0 && other !== key) answers.delete(other);
    }
  }
  return answer;
}

async function ask<T>(key: string, load: () => Promise<T>): Promise<void> {
  const answer = answerOf(key);
  const turn = ++answer.turn;
  answer.isLoading = true;
  answer.changes = [];
  draw(key);
  try {
    const loaded = await load();
    if (turn === answer.turn) {
      const data = answer.changes.reduce<unknown>((known, change) => change(known), loaded);
      Object.assign(answer, { data, error: undefined, at: Date.now() });
    }
  } catch (error) {
    if (turn === answer.turn) answer.error = error;
    onFailure(error);
  }
  if (turn === answer.turn) answer.isLoading = false;
  draw(key);
}

let uses = 0;
const starting: { readonly order: number; readonly start: () => void }[] = [];

/**
 * Sends the requests of one rendering in the order of the components: a list before the names in its filters. The client
 * sends the first request alone, to learn the limits, so its answer is shown first.
 */
function startInOrder(order: number, start: () => void): void {
  if (starting.push({ order, start }) > 1) return;
  queueMicrotask(() => {
    for (const next of starting.splice(0).toSorted((one, other) => one.order - other.order)) next.start();
  });
}

/** The state of a query. Old data stay while a new request is in flight, and if it fails. */
export interface QueryResult<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Sends a query, and again whenever `key` changes or `invalidate` outdates it. Keys name the query: `pets?status=sold`.
 * Components with the same key share the answer. Without a key no request is sent.
 */
export function useQuery<T>(key: string | undefined, load: () => Promise<T>): QueryResult<T> {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const latest = useRef(load);
  latest.current = load;
  const order = useRef(0);
  order.current ||= ++uses;
  const reload = () => void (key !== undefined && ask(key, () => latest.current()));
  // Before the browser paints, so that the request is in flight during that time.
  useLayoutEffect(() => {
    if (key === undefined) return undefined;
    const id = Symbol(key);
    const drawer = () => redraw(undefined);
    const answer = answerOf(key);
    answer.load.set(id, reload);
    if (!drawers.has(key)) drawers.set(key, new Set());
    drawers.get(key)?.add(drawer);
    startInOrder(order.current, () => {
      if (!answer.isLoading && Date.now() - answer.at > FRESH) reload();
      else drawer();
    });
    return () => {
      answer.load.delete(id);
      drawers.get(key)?.delete(drawer);
    };
  }, [key]);
  const answer = key === undefined ? undefined : answers.get(key);
  const isLoading = key !== undefined && (answer?.isLoading ?? true);
  return { data: answer?.data as T | undefined, error: answer?.error, isLoading, reload };
}

/** Outdates all answers whose key begins with one of the words. Those that are shown are requested again at once. */
export function invalidate(...words: string[]): void {
  for (const [key, answer] of answers) {
    if (!words.some((word) => key.startsWith(word))) continue;
    answer.at = 0;
    answer.load.values().next().value?.();
  }
}

/**
 * Changes answers in place if the result of a new request is known. A `word` that ends with a question mark matches all
 * keys that begin with it. `change` returns the same value to leave it unchanged.
 */
export function amend<T>(word: string, change: (data: T) => T): void {
  for (const [key, answer] of answers) {
    const isMeant = key === word || (word.endsWith("?") && key.startsWith(word));
    if (!isMeant) continue;
    if (answer.isLoading) answer.changes.push(change as (data: unknown) => unknown);
    if (answer.data === undefined) continue;
    const data = change(answer.data as T);
    if (data === answer.data) continue;
    answer.data = data;
    draw(key);
  }
}

/** Deletes everything, because the next user may not see it. */
export function forgetAnswers(): void {
  answers.clear();
}
