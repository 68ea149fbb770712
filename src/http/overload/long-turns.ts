import { ConnectionsInTurn } from "./connections-in-turn.ts";
import type { LoadLimits } from "./load-limits.ts";

/**
 * Ends long turns of the event loop: once a turn has started requests for `maxTurnMs`, the requests that follow are
 * delayed to the next one. Otherwise the loop would keep reading while many connections have data, and commits and
 * timers would wait for more than a second.
 */
export class LongTurns {
  readonly #limits: LoadLimits;
  #start = 0;
  /** The connections of the requests that began after `maxTurnMs`. */
  readonly #connections = new ConnectionsInTurn();
  #next: PromiseWithResolvers<void> | undefined;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
  }

  /** Begins a turn at `now` (of `performance.now`). */
  begin(now: number): void {
    this.#start = now;
  }

  /**
   * Returns undefined if a request may begin at `now`; otherwise a promise that resolves in the turn in which it may.
   *
   * The first `maxInFlight` connections after `maxTurnMs` are not delayed: few connections do not cause long turns, and
   * a request that must wait loses all requests that are pipelined after it, because the runtime then closes the
   * connection.
   */
  laterTurn(now: number, request: { readonly connection: string }): Promise<void> | undefined {
    if (now - this.#start <= this.#limits.maxTurnMs) return undefined;
    if (!this.#connections.add(request.connection) || this.#connections.count <= this.#limits.maxInFlight)
      return undefined;
    this.#next ??= Promise.withResolvers();
    return this.#next.promise;
  }

  /** Ends the turn. Delayed requests begin in the next one. */
  end(): void {
    this.#connections.restart();
    const next = this.#next;
    this.#next = undefined;
    next?.resolve();
  }
}
