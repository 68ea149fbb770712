import { referenceBundle } from "../../src/app/web/documents.ts";
import type { LoadedService } from "./loaded-service.ts";

/** A way of being slow. */
export interface SlowKind {
  readonly name: string;
  /** What such a client sends at first. */
  readonly sends: string;
  /** What it sends each second from then on. */
  readonly drips?: string;
  /** Sends the drops as fast as the service takes them. */
  readonly pours?: boolean;
  /** Never reads what comes back, and so cannot see the end of its connection. */
  readonly neverReads?: boolean;
  /** Ends its sending side after what it sends at first. */
  readonly halfCloses?: boolean;
  /** The status of the response that it gets; undefined for none. */
  readonly status?: number;
  /** Seconds after which its connection has ended: what the documentation promises. */
  readonly endsWithin: number;
}

const CHUNK = `3e80\r\n${" ".repeat(16_000)}\r\n`;

/**
 * All ways of being slow, as clients of a service. Those that ask without end have a key of another account: thousands
 * of requests at once are an overload by their shop, of which the service may refuse some.
 */
export function slowKinds(service: LoadedService, otherKey: string): SlowKind[] {
  const read = service.request("GET", "/pets?limit=100");
  const endless = service.request("GET", "/pets?limit=100", undefined, otherKey);
  const create = service
    .request("POST", "/pets", '{"name":"Rex"')
    .replace(/Content-Length: \d+/, "Content-Length: 100");
  const chunked = service.request("POST", "/pets", "").replace(/Content-Length: \d+/, "Transfer-Encoding: chunked");
  const page = `GET /docs/${referenceBundle.name} HTTP/1.1\r\nHost: petstore\r\n\r\n`; // more than a socket holds
  return [
    { name: "sends nothing", sends: "", endsWithin: 14 },
    { name: "is idle after a response", sends: read, status: 200, endsWithin: 34 },
    { name: "sends its headers slowly", sends: "GET /v1/pets HTTP/1.1\r\nX-A: ", drips: "a", endsWithin: 14 },
    { name: "sends its body slowly", sends: create, drips: " ", status: 408, endsWithin: 11 },
    { name: "sends its body slowly, in chunks", sends: chunked, drips: "1\r\n \r\n", status: 408, endsWithin: 11 },
    {
      name: "asks without end and does not read",
      sends: endless,
      drips: endless,
      pours: true,
      neverReads: true,
      endsWithin: 34,
    },
    { name: "asks for a large page and does not read", sends: page, neverReads: true, endsWithin: 34 },
    { name: "half-closes after its request", sends: read, halfCloses: true, endsWithin: 1 }, // no answer if it must wait
    { name: "half-closes before its end", sends: create, halfCloses: true, endsWithin: 1 },
    { name: "sends a body without end", sends: chunked, drips: CHUNK, pours: true, status: 413, endsWithin: 6 },
  ];
}

/** Many slow clients of one kind, each with its own connection. */
export class SlowClients {
  readonly kind: SlowKind;
  readonly #sockets = new Set<Bun.Socket>();
  readonly #opened: Promise<unknown>;
  readonly #drips: Timer | undefined;
  #whenEmpty = () => {};
  #slowestEnd = 0;
  /** Statuses of the responses. */
  readonly statuses = new Set<number>();

  constructor(kind: SlowKind, port: number, count: number) {
    this.kind = kind;
    this.#opened = this.#open(port, count);
    const { drips, pours } = kind;
    if (drips !== undefined && !pours) this.#drips = setInterval(() => this.#drip(drips), 1_000);
  }

  /** Resolves when all are connected. */
  async opened(): Promise<void> {
    await this.#opened;
  }

  /** Resolves when no connection is left. */
  async ended(): Promise<void> {
    await this.#opened;
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
  }

  /** The longest time from a connection's opening to its end, in seconds. */
  get slowestEnd(): number {
    return this.#slowestEnd;
  }

  /** Ends what the service has not ended. */
  stop(): void {
    clearInterval(this.#drips);
    for (const socket of this.#sockets) socket.terminate();
  }

  async #open(port: number, count: number): Promise<void> {
    for (let opened = 0; opened < count; opened += 100) {
      await Promise.all(Array.from({ length: Math.min(100, count - opened) }, () => this.#connect(port)));
    }
  }

  async #connect(port: number): Promise<void> {
    const { sends, drips, pours, neverReads, halfCloses } = this.kind;
    let since = 0;
    let rest = "";
    let begun = "";
    const pour = (socket: Bun.Socket) => {
      if (!pours || drips === undefined) return;
      do {
        if (rest === "") rest = drips;
        rest = rest.slice(Math.max(0, socket.write(rest)));
      } while (rest === "");
    };
    await Bun.connect({
      hostname: "127.0.0.1",
      port,
      allowHalfOpen: halfCloses === true,
      socket: {
        open: (socket) => {
          this.#sockets.add(socket);
          since = performance.now();
          if (neverReads) socket.pause();
          socket.write(sends);
          if (halfCloses) socket.shutdown();
          pour(socket);
        },
        drain: pour,
        data: (_socket, bytes) => {
          begun += bytes.toString("latin1", 0, 20); // a status line may arrive in pieces
          const status = /^HTTP\/1\.1 (\d{3})/.exec(begun)?.[1];
          if (status) this.statuses.add(Number(status));
          if (begun.length >= 12) begun = "";
        },
        end: (socket) => void socket.end(),
        close: (socket) => {
          if (!this.#sockets.delete(socket)) return;
          this.#slowestEnd = Math.max(this.#slowestEnd, (performance.now() - since) / 1_000);
          if (this.#sockets.size === 0) this.#whenEmpty();
        },
        error: () => {},
      },
    });
  }

  #drip(text: string): void {
    for (const socket of this.#sockets) socket.write(text);
  }
}
