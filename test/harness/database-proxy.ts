import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy in front of a database server that counts round trips, and can lose a response. */
export class DatabaseProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The number of round trips over all connections so far: a client sends something, then the server answers. */
  roundTrips = 0;
  /** The next response that contains this text is cut off before it, and the connection closes. */
  cutBefore: string | undefined;

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const server = connect(target, "127.0.0.1");
      let isAsking = false;
      client.on("data", (bytes) => {
        isAsking = true;
        server.write(bytes);
      });
      server.on("data", (bytes) => {
        if (isAsking) this.roundTrips++;
        isAsking = false;
        const cut = this.cutBefore === undefined ? -1 : bytes.indexOf(this.cutBefore);
        if (cut < 0) client.write(bytes);
        else {
          this.cutBefore = undefined;
          client.end(bytes.subarray(0, cut));
          server.destroy();
        }
      });
      for (const [socket, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => other.destroy());
      }
    });
  }

  static async start(target: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** The fewest round trips of an action in several tries, because the store sometimes sends its own statements. */
  async tripsOf(act: () => unknown): Promise<number> {
    let fewest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const before = this.roundTrips;
      await act();
      fewest = Math.min(fewest, this.roundTrips - before);
    }
    return fewest;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
