import { type OnceOptions, stringify } from "petstore-client";
import { useRef } from "preact/hooks";
import { useRerender } from "../watchable.ts";
import { uniqueText } from "./unique-text.ts";

/** Statuses and codes below 500 after which an earlier attempt may have made the change. */
const uncertain: ReadonlySet<unknown> = new Set([408, 429, "idempotency_key_in_use", "unexpected_response"]);

/** A change that the user requests. Only one runs at a time. */
export interface Action<Input = void> {
  /** Resolves to false if it failed, which sets `error`, or if one is still running. */
  readonly run: (input: Input) => Promise<boolean>;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly clearError: () => void;
}

/** True after success or an error that certainly changed nothing. An error without a status is never certain. */
export function isCertain(error: unknown): boolean {
  const { status, code } = (error ?? { status: 0 }) as { status?: number; code?: string };
  return status! < 500 && !uncertain.has(status) && !uncertain.has(code);
}

interface State {
  isRunning: boolean;
  error: unknown;
}

/**
 * An action that does `work`. `work` passes `retryOptions` to an operation that may not happen twice: an idempotency key.
 * After a failure that may have made the change, a second try has the same, unless the user has changed the input.
 */
export function useAction<Input = void>(
  work: (input: Input, retryOptions: OnceOptions) => Promise<unknown>,
): Action<Input> {
  const rerender = useRerender();
  const state = useRef<State>({ isRunning: false, error: undefined }).current;
  /** The last input, and its key, until it is certain whether the change was made. */
  const tried = useRef<{ input?: string; options: OnceOptions }>({ options: {} }).current;
  const set = (changes: Partial<State>) => {
    Object.assign(state, changes);
    rerender();
  };
  const run = async (input: Input) => {
    if (state.isRunning) return false;
    const text = stringify([input]);
    if (text !== tried.input) Object.assign(tried, { input: text, options: { idempotencyKey: uniqueText() } });
    set({ isRunning: true, error: undefined });
    let error: unknown;
    try {
      await work(input, tried.options);
    } catch (cause) {
      error = cause;
    }
    // The next try is then a new request: with the same key, the service would return a stored error again.
    if (isCertain(error)) delete tried.input;
    set({ isRunning: false, error });
    return !error;
  };
  return { run, ...state, clearError: () => set({ error: undefined }) };
}
