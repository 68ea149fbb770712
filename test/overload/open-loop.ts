// Puts load on a service from a separate process. In an open loop requests are due at a fixed rate,
// whatever the service does, as those of many independent clients are; wrk and its like wait for each
// answer before they send again, and so never ask for more than the service can do.

export interface LoadOrder {
  readonly port: number;
  /** The request, byte by byte; a service must keep its connection open. `{n}` stands for a number that no other has. */
  readonly request: string;
  readonly connections: number;
  /** Requests due each second; without it each connection sends again as soon as it is answered. */
  readonly rate?: number;
  readonly seconds: number;
  /** Ends the load earlier: after this many refusals. */
  readonly enough?: number;
}

export interface LoadReport {
  /** Responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without a response. */
  readonly lost: number;
  /** Seconds from the first request to the last response. */
  readonly elapsed: number;
  /** Successful responses a second. */
  readonly goodput: number;
  /** Milliseconds from when a request was due to its success. */
  readonly p50: number;
  readonly p99: number;
  /** The first refusals (503), as they came. */
  readonly refusals: readonly string[];
}

const KEPT_REFUSALS = 20;
/** Connections that are opened at once. */
const OPENING = 100;
/** How long the last responses may take, in milliseconds. */
const LAST_RESPONSE_TIMEOUT = 20_000;

/** Runs a load in a separate process. */
export async function runLoad(order: LoadOrder): Promise<LoadReport> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(order)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("The load broke down.");
  return JSON.parse(printed) as LoadReport;
}

interface Connection {
  readonly socket: Bun.Socket<Connection | undefined>;
  /** When its request was due; undefined while it has none. */
  due: number | undefined;
  received: string;
}

class OpenLoop {
  readonly #order: LoadOrder;
  readonly #free: Connection[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #refusals: string[] = [];
  readonly #times: number[] = [];
  readonly #finished = Promise.withResolvers<void>();
  #start = 0;
  #last = 0;
  #started = 0;
  #busy = 0;
  #lost = 0;
  #isOver = false;

  constructor(order: LoadOrder) {
    this.#order = order;
  }

  async run(): Promise<LoadReport> {
    const { connections, seconds } = this.#order;
    for (let opened = 0; opened < connections; opened += OPENING) {
      const batch = Array.from({ length: Math.min(OPENING, connections - opened) }, () => this.#open());
      this.#free.push(...(await Promise.all(batch)));
    }
    this.#start = performance.now();
    const beat = setInterval(() => this.#send(), 1);
    setTimeout(() => this.#end(), seconds * 1_000);
    this.#send();
    await this.#finished.promise;
    clearInterval(beat);
    return this.#report();
  }

  #open(): Promise<Connection> {
    return new Promise((resolve, reject) => {
      void Bun.connect<Connection | undefined>({
        hostname: "127.0.0.1",
        port: this.#order.port,
        data: undefined,
        socket: {
          open: (socket) => {
            socket.data = { socket, due: undefined, received: "" };
            resolve(socket.data);
          },
          data: ({ data }, bytes) => data && this.#receive(data, bytes.toString("latin1")),
          close: ({ data }) => data && this.#close(data),
          error: () => {},
          connectError: (_socket, error) => reject(error),
        },
      });
    });
  }

  /** How many requests are due by now. */
  #due(): number {
    const { rate } = this.#order;
    return rate === undefined ? Number.POSITIVE_INFINITY : ((performance.now() - this.#start) / 1_000) * rate;
  }

  #send(): void {
    const due = this.#due();
    while (!this.#isOver && this.#started < due) {
      const connection = this.#free.shift(); // all take turns, as clients do that have one each
      if (!connection) return; // the request stays due until a connection is free
      const { rate, request } = this.#order;
      connection.due = rate === undefined ? performance.now() : this.#start + (this.#started / rate) * 1_000;
      this.#started++;
      this.#busy++;
      connection.socket.write(request.replace("{n}", String(this.#started)));
    }
  }

  #receive(connection: Connection, text: string): void {
    connection.received += text;
    const { received, due } = connection;
    const head = received.indexOf("\r\n\r\n");
    if (head < 0 || due === undefined) return;
    const length = Number(/content-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
    if (received.length < head + 4 + length) return;
    this.#count(received, due);
    connection.received = "";
    connection.due = undefined;
    this.#free.push(connection);
    this.#settle();
    this.#send();
  }

  #count(response: string, due: number): void {
    const status = response.slice(9, 12);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    this.#last = performance.now();
    if (status.startsWith("2")) this.#times.push(this.#last - due);
    if (status !== "503") return;
    if (this.#refusals.length < KEPT_REFUSALS) this.#refusals.push(response);
    if (this.#statuses[status] === this.#order.enough) this.#end();
  }

  #close(connection: Connection): void {
    if (connection.due === undefined) return void this.#free.splice(this.#free.indexOf(connection), 1);
    connection.due = undefined;
    this.#lost++;
    this.#settle();
  }

  #settle(): void {
    this.#busy--;
    if (this.#isOver && this.#busy === 0) this.#finished.resolve();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#busy === 0) this.#finished.resolve();
    setTimeout(() => this.#finished.resolve(), LAST_RESPONSE_TIMEOUT);
  }

  #report(): LoadReport {
    const elapsed = (this.#last - this.#start) / 1_000;
    const times = Float64Array.from(this.#times).toSorted();
    const at = (part: number) => times[Math.floor(times.length * part)] ?? 0;
    return {
      statuses: this.#statuses,
      lost: this.#lost + this.#busy,
      elapsed,
      goodput: times.length / elapsed,
      p50: at(0.5),
      p99: at(0.99),
      refusals: this.#refusals,
    };
  }
}

if (import.meta.main) {
  const report = await new OpenLoop(JSON.parse(process.argv[2] ?? "") as LoadOrder).run();
  await Bun.write(Bun.stdout, JSON.stringify(report));
  process.exit(0);
}
