/** How long a connection pauses after each response, in milliseconds. A load without pauses takes the processor from what is tested. */
const PAUSE = 20;

/** Sends one request after another over each of several connections until it is ended. */
export class Load {
  #isOver = false;
  readonly #connections: Promise<unknown>;

  constructor(connections: number, send: (connection: number) => Promise<unknown>) {
    const repeat = async (connection: number) => {
      while (!this.#isOver) {
        await send(connection);
        await Bun.sleep(PAUSE);
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
