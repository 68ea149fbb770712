import type { Client, ClientResponse } from "../harness/client.ts";

/** A killed process may forget what it counted in this time, in milliseconds. */
const FORGOTTEN = 1_000;

/** The first response to a client in one life of the service, and how the life ended. */
interface Life {
  readonly client: Client;
  readonly used: number;
  readonly reset: string | null;
  killedAt: number;
}

/**
 * Checks, from the outside, that an account's count of the day outlives each kill but for the last
 * second, and is never more than what was sent. The account's quota must be the same for the minute
 * and the day, so that the headers show the day.
 */
export class DayCount {
  readonly violations: string[] = [];
  readonly #quota: number;
  #life: Life | undefined;

  constructor(quota: number) {
    this.#quota = quota;
  }

  /** Takes the first response of a new life, compares it with the life before. */
  begin(client: Client, first: ClientResponse): void {
    const used = this.#quota - Number(first.headers.get("x-ratelimit-remaining"));
    const life = { client, used, reset: first.headers.get("x-ratelimit-reset"), killedAt: Number.NaN };
    // A new day begins with a new count.
    if (this.#life && this.#life.reset === life.reset) this.#compare(this.#life, used - 1);
    this.#life = life;
  }

  killed(): void {
    if (this.#life) this.#life.killedAt = performance.now();
  }

  #compare({ client, used, killedAt }: Life, found: number): void {
    const lasting = client.answeredAt.filter((time) => time < killedAt - FORGOTTEN).length;
    // `used` has the life's first request in it already.
    const least = used - 1 + Math.max(0, lasting);
    const most = used - 1 + client.sent;
    if (found < least || found > most) {
      this.violations.push(`the day's count is ${found} after a kill, not from ${least} to ${most}`);
    }
  }
}
