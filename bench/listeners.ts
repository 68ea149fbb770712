import type { Socket } from "bun";

/** How an event begins in a stream. Comments, which only carry ids, have no `event` field. */
const MARKER = "\nevent: ";

/** One stream. `tail` is the end of the last data, which may hold the first part of a marker. */
interface Stream {
  tail: string;
  readonly opened: PromiseWithResolvers<void>;
}

/**
 * Streams of a service, read over raw sockets. They only count events: a client that parsed them would be busier than the
 * service that sends them.
 */
export class Listeners {
  #events = 0;
  #next: PromiseWithResolvers<void> | undefined;
  readonly #sockets: Socket<Stream>[] = [];

  /** Opens `ofEach` streams with each key, and resolves when all have begun. */
  static async open(url: string, keys: readonly string[], ofEach: number): Promise<Listeners> {
    const listeners = new Listeners();
    await Promise.all(keys.flatMap((key) => Array.from({ length: ofEach }, () => listeners.#open(new URL(url), key))));
    return listeners;
  }

  /** Events that arrived, of all streams together. */
  get events(): number {
    return this.#events;
  }

  /** Resolves when the next event arrives. */
  next(): Promise<void> {
    this.#next ??= Promise.withResolvers();
    return this.#next.promise;
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #open({ hostname, port, host }: URL, key: string): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const socket = await Bun.connect<Stream>({
      hostname,
      port: Number(port),
      data: { tail: "", opened },
      socket: {
        data: (from, bytes) => this.#read(from.data, bytes.toString("latin1")),
        close: () => opened.reject(new Error("A stream was refused or ended.")),
      },
    });
    this.#sockets.push(socket);
    socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await opened.promise;
  }

  #read(stream: Stream, bytes: string): void {
    const text = stream.tail + bytes;
    if (text.startsWith("HTTP/1.1 200")) stream.opened.resolve();
    else if (text.startsWith("HTTP/")) stream.opened.reject(new Error(`A stream was refused: ${text}`));
    const events = text.split(MARKER).length - 1;
    stream.tail = text.slice(1 - MARKER.length);
    if (events === 0) return;
    this.#events += events;
    this.#next?.resolve();
    this.#next = undefined;
  }
}
