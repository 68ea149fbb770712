import { connect, createServer, type Server, type Socket } from "node:net";

/** A relay of TCP connections that holds back what passes, in each direction. */
export class Relay {
  /** Milliseconds that each direction takes longer. */
  delay = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async start(own: string, target: string, port: number): Promise<Relay> {
    const relay = new Relay(target, port);
    await new Promise<void>((resolve) => relay.#server.listen(0, own, resolve));
    return relay;
  }

  private constructor(target: string, port: number) {
    this.#server = createServer({ noDelay: true }, (client) => {
      const server = connect({ host: target, port, noDelay: true });
      this.#pass(client, server);
      this.#pass(server, client);
    });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    let due = 0;
    // Nothing overtakes what was sent before, even if the delay changes.
    const later = (act: () => void) => {
      due = Math.max(due, performance.now() + this.delay);
      setTimeout(act, Math.max(1, due - performance.now()));
    };
    from.on("data", (bytes) => later(() => to.write(bytes)));
    from.on("close", () => later(() => to.destroy()));
    from.on("error", () => {});
  }
}
