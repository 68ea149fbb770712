import { createServer, type Socket } from "node:net";
import { AddressPolicy } from "../../src/domains/webhooks/sending/addresses.ts";
import type { Network, SignedMessage } from "../../src/domains/webhooks/sending/send.ts";
import { ManualClock } from "./manual-clock.ts";

/** A request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface ReceiverOptions {
  readonly address?: string;
  readonly port?: number;
  /** The certificates, as files. Without them it uses http. */
  readonly tls?: readonly { cert: string; key: string; serverName?: string }[];
  readonly respond?: (received: Received) => Response | Promise<Response>;
}

/** A receiver of webhooks. It accepts every message, unless `respond` does something else. */
export class Receiver {
  readonly received: Received[] = [];
  readonly #server: Bun.Server<undefined>;

  constructor({ address = "127.0.0.1", port = 0, tls, respond = () => new Response("taken") }: ReceiverOptions = {}) {
    this.#server = Bun.serve({
      hostname: address,
      port,
      ...(tls && {
        tls: tls.map(({ cert, key, ...name }) => ({ cert: Bun.file(cert), key: Bun.file(key), ...name })),
      }),
      fetch: async (request) => {
        const body = await request.text();
        const received = { path: new URL(request.url).pathname, headers: request.headers, body };
        this.received.push(received);
        return respond(received);
      },
    });
  }

  get port(): number {
    return this.#server.port as number;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}

/** A server that passes each connection to `respond` after its first data. */
export class RawReceiver {
  readonly port: number;
  /** How many connections have sent something. */
  connections = 0;
  readonly #server: ReturnType<typeof createServer>;
  readonly #closed = Promise.withResolvers<number>();

  static async start(respond: (socket: Socket) => void): Promise<RawReceiver> {
    const server = createServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await promise;
    return new RawReceiver(server, respond);
  }

  private constructor(server: ReturnType<typeof createServer>, respond: (socket: Socket) => void) {
    this.#server = server;
    this.port = (server.address() as { port: number }).port;
    server.on("connection", (socket) => {
      socket.on("error", () => {}); // it was closed while something was sent
      socket.once("data", () => {
        this.connections++;
        respond(socket);
      });
      socket.on("close", () => this.#closed.resolve(socket.bytesWritten));
    });
  }

  /** The bytes that were sent until a connection was closed. */
  get closed(): Promise<number> {
    return this.#closed.promise;
  }

  stop(): void {
    this.#server.close();
  }
}

/** Sends a text again and again, as fast as the socket accepts it. */
export function sendForever(socket: Socket, text: string): void {
  while (!socket.destroyed && socket.write(text));
  if (!socket.destroyed) socket.once("drain", () => sendForever(socket, text));
}

/** A message for this URL. */
export function message(url: string): SignedMessage {
  return { url, headers: { "webhook-id": "msg_1" }, body: '{"type":"pet.updated","name":"Rex 🐕"}' };
}

/** A network whose time does not pass, where loopback is allowed and no name has an address. `changes` replaces parts. */
export function network(changes: Partial<Network> = {}): Network {
  return {
    policy: new AddressPolicy({ isDevelopment: true, denied: [] }),
    clock: new ManualClock(),
    resolve: () => Promise.resolve([]),
    expire: () => new AbortController().signal,
    ...changes,
  };
}
