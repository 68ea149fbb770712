/** The maximum number of deliveries of one endpoint in progress. */
const MAX_PER_ENDPOINT = 32;
/**
 * The maximum number of deliveries in progress. `fetch` makes 256 requests at a time, and the time limit of further
 * requests runs while they wait.
 */
const MAX_IN_PROGRESS = 200;

/** Slots of the total that only an endpoint without a delivery in progress may take. */
const RESERVED = 50;

/**
 * Distributes the deliveries that can be in progress. An endpoint never gets more slots than are left for others, and
 * the reserved ones go to endpoints that have none: a few endpoints that hang cannot block the others.
 */
export class Slots {
  #taken = 0;

  get taken(): number {
    return this.#taken;
  }

  /** Takes a slot for an endpoint that already has this many. False if it must wait. */
  take(ofEndpoint: number): boolean {
    const free = MAX_IN_PROGRESS - this.#taken;
    const most = ofEndpoint === 0 ? free : Math.min(MAX_PER_ENDPOINT, free - RESERVED);
    if (ofEndpoint >= most) return false;
    this.#taken++;
    return true;
  }

  free(): void {
    this.#taken--;
  }
}
