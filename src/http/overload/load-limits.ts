/** The load that the service accepts. */
export interface LoadLimits {
  /** Up to this many requests in flight, none is refused or queued. */
  readonly maxInFlight: number;
  /** Milliseconds for which every turn must have had more than `maxInFlight` requests before some are refused. */
  readonly overloadAfterMs: number;
  /** At overload, one of this many excess requests is refused. */
  readonly refuseOneIn: number;
  /**
   * While this many requests wait for the store or the limiter, a shop may not write if it has its share of them: this
   * number divided by the number of shops with requests in flight.
   */
  readonly maxWaiting: number;
  /** How long one turn of the event loop may start requests, in milliseconds. */
  readonly maxTurnMs: number;
}

/**
 * `refuseOneIn` is 16: a refusal costs almost as much as a response, because most of the work is HTTP. Refusals
 * therefore take at most a sixteenth of the time; refusing every excess request would leave no time for the
 * others. A client that obeys `Retry-After` frees its slot for at least a second, which drains the queue. The others wait
 * for each response before they send again.
 */
export const loadLimits: LoadLimits = {
  maxInFlight: 256,
  overloadAfterMs: 500,
  refuseOneIn: 16,
  maxWaiting: 16_384,
  maxTurnMs: 20,
};
