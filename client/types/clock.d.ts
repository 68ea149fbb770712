// Generated from client/src by `npm run derive`.

/** A clock that tests can replace. */
export interface Clock {
    /** Unix milliseconds. */
    now(): number;
    /** Calls `run` after this many milliseconds. The returned function cancels it. */
    after(milliseconds: number, run: () => void): () => void;
}
export declare const systemClock: Clock;
/**
 * Calls `run` when the signal is aborted. The returned function takes that back. A signal gets one listener, however many
 * calls it ends: Node warns of a leak from eleven on.
 */
export declare function onAbort(signal: AbortSignal, run: () => void): () => void;
/** Runs `work` with a signal that is aborted with its parent, or after a timeout with `lateReason`. */
export declare function within<T>(clock: Clock, milliseconds: number, parent: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>, lateReason?: () => unknown): Promise<T>;
/**
 * Waits this long, or until `work` ends. Returns the result of `work`; undefined if it takes longer or fails. Rejects
 * with the abort reason of the signal.
 */
export declare function waitFor<T>(clock: Clock, milliseconds: number, signal: AbortSignal, work?: () => Promise<T>): Promise<T | undefined>;
