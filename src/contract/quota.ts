/** Requests that somebody may send. Both figures are whole numbers of at least 1. */
export interface Quota {
  /** In a minute. */
  readonly perMinute: number;
  /** In a UTC calendar day. */
  readonly perDay: number;
}
