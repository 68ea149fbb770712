/** The maximum number of deliveries of one endpoint in progress, and of all endpoints of an account. */
const MAX_PER_ENDPOINT = 32;
const MAX_PER_ACCOUNT = 64;
/**
 * The maximum number of deliveries in progress. `fetch` makes 256 requests at a time, and the time limit of further
 * requests runs while they wait.
 */
export const MAX_IN_PROGRESS = 200;

/** Slots of the total that only an account without a delivery in progress may take. */
const RESERVED = 50;

/**
 * Distributes the deliveries that can be in progress. An endpoint never gets more slots than are left for others, in
 * total and in its account, and the reserved ones go to accounts that have none: a few accounts whose endpoints hang
 * cannot block the others.
 */
export class Slots {
  #taken = 0;
  readonly #ofAccounts = new Map<string, number>();

  get taken(): number {
    return this.#taken;
  }

  /** True if there is a slot for an endpoint that already has this many. */
  isFree(accountId: string, ofEndpoint: number): boolean {
    const ofAccount = this.#ofAccounts.get(accountId) ?? 0;
    const free = MAX_IN_PROGRESS - this.#taken - (ofAccount === 0 ? 0 : RESERVED);
    return ofEndpoint < Math.min(MAX_PER_ENDPOINT, MAX_PER_ACCOUNT - ofAccount, free);
  }

  /** Takes a slot for an endpoint that already has this many. False if it must wait. */
  take(accountId: string, ofEndpoint: number): boolean {
    if (!this.isFree(accountId, ofEndpoint)) return false;
    this.#taken++;
    this.#ofAccounts.set(accountId, (this.#ofAccounts.get(accountId) ?? 0) + 1);
    return true;
  }

  free(accountId: string): void {
    this.#taken--;
    const left = (this.#ofAccounts.get(accountId) ?? 1) - 1;
    if (left > 0) this.#ofAccounts.set(accountId, left);
    else this.#ofAccounts.delete(accountId);
  }
}
