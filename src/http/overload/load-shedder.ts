import type { Clock } from "../../timing/clock.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { InFlightByShop } from "./in-flight-by-shop.ts";
import { type LoadLimits, loadLimits } from "./load-limits.ts";
import { LongTurns } from "./long-turns.ts";
import { OverloadDetector } from "./overload-detector.ts";
import { QueuedRequests } from "./queued-requests.ts";

/** A request that has begun and is identified. */
export interface BegunRequest {
  readonly isWrite: boolean;
  /** The result of `begin`. */
  readonly isExcess: boolean;
  readonly caller: { readonly shop: number } | undefined;
  /** Distinguishes its connection from other open ones. */
  readonly connection: string;
}

/**
 * Requests are queued only if several shops had requests in flight within this many samples (10 s). With one shop, it
 * would help no one.
 */
const SHARED_SAMPLES = 100;

/**
 * Counts the requests in flight: those that began in this turn of the event loop, which have all waited in their
 * sockets, and those of earlier turns that wait for the store or the limiter, or are queued.
 *
 * Overload affects only shops with at least the average number of requests in flight. Some of their requests are
 * refused. A few of the others begin in each turn, so that a request of another shop does not wait for all of them.
 *
 * For each request, call `begin`, `laterTurn`, then `refuses`. Around each wait for the store or the limiter, call
 * `wait` and `endWait`.
 */
export class LoadShedder {
  readonly #limits: LoadLimits;
  readonly #detector: OverloadDetector;
  readonly #longTurns: LongTurns;
  readonly #queued: QueuedRequests;
  readonly #shops = new InFlightByShop();
  /** For how many more samples the service counts as used by several shops. */
  #sharedSamplesLeft = 0;
  /** True from the first request of a turn of the event loop to the end of that turn. */
  #isTurn = false;
  /** The number of requests that began in this turn. */
  #begun = 0;
  /** The number of requests that waited or were queued when this turn began. */
  #inFlightBefore = 0;
  #waiting = 0;
  /** The number of excess requests that could be refused; one of `refuseOneIn` is. */
  #refusable = 0;

  constructor(clock: Clock, limits: LoadLimits = loadLimits, onChange: (isOverloaded: boolean) => void = () => {}) {
    this.#limits = limits;
    this.#detector = new OverloadDetector(clock, limits, onChange);
    this.#longTurns = new LongTurns(limits);
    this.#queued = new QueuedRequests(limits.maxInFlight);
  }

  /** Requests that wait for the store or the limiter. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True while requests are refused. */
  get isOverloaded(): boolean {
    return this.#detector.isOverloaded;
  }

  /**
   * Counts a request that begins at `now` (of `performance.now`). Returns true if more requests are in flight than the
   * service accepts. For a write, those count that began in this turn, are queued, or wait for the store. For a read,
   * those that wait do not count, because a read does not wait for writes.
   */
  begin(now: number, isWrite: boolean): boolean {
    this.#begun++;
    if (!this.#isTurn) this.#beginTurn(now);
    if (isWrite && this.#hasMaxWaiting) return true;
    if (!this.#detector.isOverloaded) return false;
    return (isWrite ? this.#inFlightBefore : this.#queued.size) + this.#begun > this.#limits.maxInFlight;
  }

  /** Delays a request that begins at `now` if the turn is long: see `LongTurns.laterTurn`. */
  laterTurn(now: number, request: { readonly connection: string }): Promise<void> | undefined {
    return this.#longTurns.laterTurn(now, request);
  }

  /**
   * Returns true if a request that has begun must be refused, now that its shop is known. At overload the result may
   * come in a later turn of the event loop. A shop with fewer requests than the average is neither refused nor queued.
   */
  refuses(request: BegunRequest): MaybePromise<boolean> {
    const { isExcess, isWrite, caller } = request;
    const { isOverloaded } = this.#detector;
    if (!isExcess && !isOverloaded) return false;
    const shop = caller?.shop;
    // The look-up of its key took the request into a later turn, in which no request may have begun yet.
    if (!this.#isTurn) this.#beginTurn(performance.now());
    this.#shops.begin(shop);
    if (this.#shops.size > 1) this.#sharedSamplesLeft = SHARED_SAMPLES;
    if (isWrite && this.#hasMaxWaiting && this.#shops.hasEqualShareOf(this.#limits.maxWaiting, shop)) return true;
    if (!isOverloaded || !this.#shops.hasEqualShareOf(this.#shops.total, shop)) return false;
    if (isExcess && this.#refusable++ % this.#limits.refuseOneIn === 0) return true;
    const turn = this.#sharedSamplesLeft > 0 ? this.#queued.add(request) : undefined;
    if (!turn) return false;
    this.#shops.hold(shop);
    return turn.then(() => {
      this.#shops.release(shop);
      return false;
    });
  }

  /** Counts a request that waits for the store or the limiter. */
  wait(shop: number | undefined): void {
    this.#waiting++;
    this.#shops.hold(shop);
  }

  /** The request no longer waits. */
  endWait(shop: number | undefined): void {
    this.#waiting--;
    this.#shops.release(shop);
  }

  /** Decides whether the service is overloaded. Call it about every 100 ms. */
  sample(): void {
    this.#sharedSamplesLeft = Math.max(0, this.#sharedSamplesLeft - 1);
    this.#detector.sample(this.#waiting + this.#queued.size);
  }

  get #hasMaxWaiting(): boolean {
    return this.#waiting >= this.#limits.maxWaiting;
  }

  #beginTurn(now: number): void {
    this.#isTurn = true;
    this.#inFlightBefore = this.#waiting + this.#queued.size;
    this.#longTurns.begin(now);
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#detector.endTurn(this.#inFlightBefore + this.#begun);
    this.#begun = 0;
    this.#isTurn = false;
    this.#shops.endTurn();
    this.#queued.nextTurn(); // first, because these requests have waited longest
    if (this.#queued.size > 0) this.#beginTurn(performance.now()); // those that are left need another turn
    this.#longTurns.end();
  };
}
