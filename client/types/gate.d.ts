import type { Answer } from "./answer.js";
import type { Clock } from "./clock.js";
/**
 * Lets the requests of one key through, first come, first served, as its limits allow: a first one to learn them, then
 * as many as remain, the last ones spread over what is left of the window. After a 429 all wait together.
 */
export declare class Gate {
    #private;
    constructor(clock: Clock);
    /** Resolves when a request may be sent; then `leave` must follow. */
    enter(operation: string, deadline: number, signal: AbortSignal): Promise<void>;
    /** A request is over, with an answer or without. After a 429 nothing goes through for as long as it says. */
    leave(answer?: Answer): void;
}
