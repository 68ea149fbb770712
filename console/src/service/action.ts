import { useState } from "preact/hooks";
import { endIfRefused } from "../session/session.ts";

/** A change that the user requests. Only one runs at a time. */
export interface Action<Inputs extends unknown[]> {
  /** Resolves to false if it failed; `error` then says why. */
  readonly run: (...inputs: Inputs) => Promise<boolean>;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly forget: () => void;
}

export function useAction<Inputs extends unknown[]>(work: (...inputs: Inputs) => Promise<unknown>): Action<Inputs> {
  const [{ isRunning, error }, set] = useState<{ isRunning: boolean; error?: unknown }>({ isRunning: false });
  const run = async (...inputs: Inputs) => {
    set({ isRunning: true });
    try {
      await work(...inputs);
      set({ isRunning: false });
      return true;
    } catch (cause) {
      set({ isRunning: false, error: cause });
      endIfRefused(cause);
      return false;
    }
  };
  return { run, isRunning, error, forget: () => set({ isRunning: false }) };
}
