import type { Clock } from "../../timing/clock.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { InFlightByShop } from "./in-flight-by-shop.ts";
import { QueuedRequests } from "./queued-requests.ts";

/** The load that the service accepts. */
export interface LoadLimits {
  /** Up to this many requests in flight, none is refused or queued. */
  readonly maxInFlight: number;
  /** How long every turn may have more than `maxInFlight` requests before some are refused, in milliseconds. */
  readonly overloadAfterMs: number;
  /** At overload, one of this many excess requests is refused. */
  readonly refuseOneIn: number;
  /**
   * While this many requests wait for the store or the limiter, a shop may not write if its own requests in flight are
   * at least this number divided by the number of shops with requests in flight.
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

/** A request that has begun and is identified. */
export interface Begun {
  readonly isWrite: boolean;
  /** The result of `begin`. */
  readonly isExcess: boolean;
  readonly caller: { readonly shop: number } | undefined;
  /** Distinguishes its connection from other open ones. */
  readonly connection: string;
}

/** After several shops had requests in flight, requests may be queued for this many samples: 10 s. */
const SHARED_SAMPLES = 100;

/** Refused clients return after 1 to this many seconds, so that they do not all return at once. */
const RETRY_SPREAD = 4;

/**
 * Counts the requests in flight: those that began in this turn of the event loop, which have all waited in their
 * sockets, and those of earlier turns that wait for the store or the limiter, or are queued.
 *
 * The service is overloaded if every turn has had more than `maxInFlight` requests for some time. It counts requests
 * and not milliseconds, because a machine that is busy with something else must not look overloaded.
 *
 * Overload affects only shops with at least the average number of requests in flight. Some of their requests are
 * refused. A few of the others begin in each turn, so that a request of another shop does not wait for all of them.
 *
 * For each request, call `begin`, `turnFor`, then `refuses`. Around each wait for the store or the limiter, call `wait`
 * and `endWait`.
 */
export class LoadShedder {
  readonly #limits: LoadLimits;
  readonly #clock: Clock;
  readonly #onChange: (isOverloaded: boolean) => void;
  readonly #queued: QueuedRequests;
  readonly #shops = new InFlightByShop();
  /** For how many more samples the service counts as used by several shops. */
  #sharedFor = 0;
  #begun = 0;
  /** True from the first request of a turn of the event loop to the end of that turn. */
  #isTurn = false;
  #turnStart = 0;
  #nextTurn: PromiseWithResolvers<void> | undefined;
  /**
   * Of the requests that began more than `maxTurnMs` after the start of this turn: the connection of the last one, and the
   * number of connections.
   */
  #connection: string | undefined;
  #connections = 0;
  #waiting = 0;
  /** The number of requests that waited or were queued when this turn began. */
  #carried = 0;
  /** The minimum number of requests in flight in a turn since the last sample; infinite if there was no turn. */
  #least = Number.POSITIVE_INFINITY;
  /** Since when more than `maxInFlight` requests have been in flight without a break. */
  #overLimitSince: number | undefined;
  #isOverloaded = false;
  /** The number of excess requests that could be refused; one of `refuseOneIn` is. */
  #candidates = 0;
  /** The number of refused requests whose `Retry-After` was chosen. */
  #refused = 0;

  constructor(clock: Clock, limits: LoadLimits = loadLimits, onChange: (isOverloaded: boolean) => void = () => {}) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onChange = onChange;
    this.#queued = new QueuedRequests(limits.maxInFlight);
  }

  /** Requests that wait for the store or the limiter. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True while requests are refused. */
  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /**
   * Counts a request that begins at `now` (of `performance.now`). Returns true for an excess request, which is one more
   * than the service accepts. Requests that wait for the store count against writes only, because reads do not wait for
   * writes.
   */
  begin(now: number, isWrite: boolean): boolean {
    this.#begun++;
    if (!this.#isTurn) this.#beginTurn(now);
    if (isWrite && this.#isFull) return true;
    if (!this.#isOverloaded) return false;
    return (isWrite ? this.#carried : this.#queued.size) + this.#begun > this.#limits.maxInFlight;
  }

  /**
   * Returns true if a request that has begun must be refused, now that its shop is known. At overload the result may
   * come in a later turn of the event loop. A shop with fewer requests than the average is neither refused nor queued.
   */
  refuses(request: Begun): MaybePromise<boolean> {
    const { isExcess, isWrite, caller } = request;
    if (!isExcess && !this.#isOverloaded) return false;
    const shop = caller?.shop;
    // After a look-up of its key, a request is judged in a later turn, which may have no other request.
    if (!this.#isTurn) this.#beginTurn(performance.now());
    this.#shops.begin(shop);
    if (this.#shops.size > 1) this.#sharedFor = SHARED_SAMPLES;
    if (isWrite && this.#isFull && this.#shops.hasShareOf(this.#limits.maxWaiting, shop)) return true;
    if (!this.#isOverloaded || !this.#shops.hasShareOf(this.#shops.total, shop)) return false;
    if (isExcess && this.#candidates++ % this.#limits.refuseOneIn === 0) return true;
    // Without another shop, queuing requests would help no one.
    const turn = this.#sharedFor > 0 ? this.#queued.add(request) : undefined;
    if (!turn) return false;
    this.#shops.wait(shop);
    return turn.then(() => {
      this.#shops.endWait(shop);
      return false;
    });
  }

  /**
   * Delays a request that begins at `now` to the next turn of the event loop if this turn has lasted long enough.
   * Otherwise the loop would keep reading while many connections have data, and commits and timers would wait for more
   * than a second.
   *
   * The first `maxInFlight` connections after that are not delayed: few connections do not cause long turns, and a
   * request that must wait loses all requests that are pipelined after it, because the runtime then closes the
   * connection.
   */
  turnFor(now: number, request: { readonly connection: string }): Promise<void> | undefined {
    if (now - this.#turnStart <= this.#limits.maxTurnMs) return undefined;
    const { connection } = request;
    if (connection === this.#connection) return undefined;
    this.#connection = connection;
    if (++this.#connections <= this.#limits.maxInFlight) return undefined;
    this.#nextTurn ??= Promise.withResolvers();
    return this.#nextTurn.promise;
  }

  /** The `Retry-After` of the next refused client, in whole seconds. */
  retryAfter(): number {
    return 1 + (this.#refused++ % RETRY_SPREAD);
  }

  /** Counts a request that waits for the store or the limiter. */
  wait(shop: number | undefined): void {
    this.#waiting++;
    this.#shops.wait(shop);
  }

  /** The request no longer waits. */
  endWait(shop: number | undefined): void {
    this.#waiting--;
    this.#shops.endWait(shop);
  }

  /** Decides whether the service is overloaded. Call it about every 100 ms. */
  sample(): void {
    const least = Number.isFinite(this.#least) ? this.#least : this.#waiting + this.#queued.size;
    this.#least = Number.POSITIVE_INFINITY;
    this.#sharedFor = Math.max(0, this.#sharedFor - 1);
    const now = this.#clock.monotonic();
    if (least <= this.#limits.maxInFlight) this.#overLimitSince = undefined;
    else this.#overLimitSince ??= now;
    const isOverloaded =
      this.#overLimitSince !== undefined && now - this.#overLimitSince >= this.#limits.overloadAfterMs;
    if (isOverloaded === this.#isOverloaded) return;
    this.#isOverloaded = isOverloaded;
    this.#onChange(isOverloaded);
  }

  get #isFull(): boolean {
    return this.#waiting >= this.#limits.maxWaiting;
  }

  #beginTurn(now: number): void {
    this.#isTurn = true;
    this.#turnStart = now;
    this.#carried = this.#waiting + this.#queued.size;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#least = Math.min(this.#least, this.#carried + this.#begun);
    this.#begun = 0;
    this.#isTurn = false;
    this.#connection = undefined;
    this.#connections = 0;
    this.#shops.endTurn();
    if (this.#isOverloaded || this.#queued.size > 0) this.#endCrowdedTurn();
    const next = this.#nextTurn;
    this.#nextTurn = undefined;
    next?.resolve();
  };

  #endCrowdedTurn(): void {
    this.#queued.nextTurn();
    // Queued requests need another turn, even if no other request begins.
    if (this.#queued.size > 0) this.#beginTurn(performance.now());
  }
}
