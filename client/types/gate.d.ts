import type { Answer } from "./answer.js";
import type { Clock } from "./clock.js";
import { RateLimitError } from "./errors.js";
/** Makes the error of a call that cannot wait until the gate opens, from the 429 that closed it and the seconds left. */
type Refusal = (error: RateLimitError, seconds: number) => Error;
/**
 * Lets the requests of one key through, first come, first served, as its limits allow: a first one to learn them, then
 * as many as remain, the last ones spread over what is left of the window. After a 429 all wait together.
 */
export declare class Gate {
    #private;
    constructor(clock: Clock);
    /** Resolves when a request may be sent; then `leave` must follow. */
    enter(deadline: number, signal: AbortSignal, refusal: Refusal): Promise<void>;
    /** A request is over, with an answer or without. After a 429 nothing goes through for as long as it says. */
    leave(answer?: Answer): void;
}
export {};
