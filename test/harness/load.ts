/** In milliseconds. A load without pauses takes the processor from what is tested. */
const PAUSE = 20;

/**
 * Sends one request after another over each of several connections until it is ended. A connection pauses for `pause`
 * milliseconds after each response; with 0, almost every connection waits for a response at any moment.
 */
export class Load {
  #isOver = false;
  readonly #connections: Promise<unknown>;

  constructor(connections: number, send: (connection: number) => Promise<unknown>, pause = PAUSE) {
    const repeat = async (connection: number) => {
      while (!this.#isOver) {
        await send(connection);
        if (pause > 0) await Bun.sleep(pause);
      }
    };
    this.#connections = Promise.all(Array.from({ length: connections }, (_, connection) => repeat(connection)));
  }

  /** Resolves when each connection has its last response. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#connections;
  }
}
