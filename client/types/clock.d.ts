/** Time, as tests can set it. */
export interface Clock {
    /** Unix milliseconds. */
    now(): number;
    /** Runs something once this many milliseconds have passed, unless what is returned is called before. */
    after(milliseconds: number, run: () => void): () => void;
}
export declare const systemClock: Clock;
/** Does something with a signal that is aborted with its parent, or after a time. */
export declare function within<T>(clock: Clock, milliseconds: number, parent: AbortSignal | undefined, reason: (() => unknown) | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
/** Waits, or fails with the reason of a signal that is aborted. */
export declare function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void>;
