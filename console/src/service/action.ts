import { useRef } from "preact/hooks";
import { useRerender } from "../watchable.ts";
import { reportRequestError } from "./query.ts";

/** A change that the user requests. Only one runs at a time. */
export interface Action<Inputs extends unknown[]> {
  /** Resolves to false if it failed, which sets `error`, or if one is still running. */
  readonly run: (...inputs: Inputs) => Promise<boolean>;
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Removes the error. */
  readonly forget: () => void;
}

interface State {
  isRunning: boolean;
  error: unknown;
}

export function useAction<Inputs extends unknown[]>(work: (...inputs: Inputs) => Promise<unknown>): Action<Inputs> {
  const rerender = useRerender();
  const state = useRef<State>({ isRunning: false, error: undefined }).current;
  const set = (changes: Partial<State>) => {
    Object.assign(state, changes);
    rerender();
  };
  const run = async (...inputs: Inputs) => {
    if (state.isRunning) return false;
    set({ isRunning: true, error: undefined });
    let error: unknown;
    try {
      await work(...inputs);
    } catch (cause) {
      error = cause;
      reportRequestError(error);
    }
    set({ isRunning: false, error });
    return !error;
  };
  return { run, ...state, forget: () => set({ error: undefined }) };
}
