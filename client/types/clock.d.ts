/** Time, as tests can set it. */
export interface Clock {
    /** Unix milliseconds. */
    now(): number;
    /** Runs something once so many milliseconds have passed, unless what is returned is called before. */
    after(milliseconds: number, run: () => void): () => void;
}
export declare const systemClock: Clock;
/** A signal that is aborted with its parent, or after a time. `end` has to be called. */
export declare function limitedSignal(clock: Clock, milliseconds: number, parent: AbortSignal | undefined, reason?: () => unknown): {
    readonly signal: AbortSignal;
    readonly end: () => void;
};
/** Waits, or fails with the reason of a signal that is aborted. */
export declare function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void>;
