/**
 * Counts the connections that have requests in one turn of the event loop. It expects the requests of a connection one
 * after the other, as the runtime reads them.
 */
export class ConnectionsInTurn {
  #last: string | undefined;
  #count = 0;

  /** The number of connections so far. */
  get count(): number {
    return this.#count;
  }

  /** Counts the connection of a request. Returns false if it is the connection of the request before. */
  add(connection: string): boolean {
    if (connection === this.#last) return false;
    this.#last = connection;
    this.#count++;
    return true;
  }

  /** Begins another turn, in which `count` connections already have requests. */
  restart(count = 0): void {
    this.#last = undefined;
    this.#count = count;
  }
}
