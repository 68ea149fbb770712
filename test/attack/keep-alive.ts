// Many requests over few connections, which `fetch` does not promise.

/** The parts of a response that the tests of attacks look at. */
export interface BriefResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** One connection that is kept open; one request on it at a time. */
export class KeepAlive implements Disposable {
  #socket: Bun.Socket | undefined;
  #received = "";
  #waiting: PromiseWithResolvers<BriefResponse> | undefined;

  /** `from` is the address that the service sees; any of 127.0.0.0/8 is this machine's. */
  static async open(port: number, from = "127.0.0.1"): Promise<KeepAlive> {
    const connection = new KeepAlive();
    const addresses = { hostname: "127.0.0.1", port, localAddress: from }; // the last is missing in Bun's types
    connection.#socket = await Bun.connect({
      ...addresses,
      socket: {
        data: (_socket, bytes) => connection.#take(bytes.toString("latin1")),
        close: () => connection.#waiting?.reject(new Error("The service closed the connection.")),
        error: (_socket, error) => connection.#waiting?.reject(error),
      },
    });
    connection.#socket.setNoDelay(true);
    return connection;
  }

  /** Sends a request that has no body, and resolves with its response. */
  send(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<BriefResponse> {
    const lines = Object.entries({ Host: "petstore", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#waiting = Promise.withResolvers();
    this.#socket?.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return this.#waiting.promise;
  }

  [Symbol.dispose](): void {
    this.#socket?.terminate();
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const [line = "", ...lines] = this.#received.slice(0, end).split("\r\n");
    const headers = new Headers(lines.map((one) => one.split(/: (.*)/s).slice(0, 2) as [string, string]));
    const whole = end + 4 + Number(headers.get("content-length") ?? 0);
    if (this.#received.length < whole) return;
    const response = { status: Number(line.split(" ")[1]), headers, text: this.#received.slice(end + 4, whole) };
    this.#received = this.#received.slice(whole);
    this.#waiting?.resolve(response);
  }
}

/** Sends all requests over several connections at once, and returns the responses. */
export async function sendAll<T>(
  port: number,
  connections: number,
  requests: readonly T[],
  send: (connection: KeepAlive, request: T) => Promise<BriefResponse>,
): Promise<BriefResponse[]> {
  const open = await Promise.all(Array.from({ length: connections }, () => KeepAlive.open(port)));
  const responses: BriefResponse[] = [];
  const rest = requests.values();
  try {
    await Promise.all(
      open.map(async (connection) => {
        for (const request of rest) responses.push(await send(connection, request));
      }),
    );
  } finally {
    for (const connection of open) connection[Symbol.dispose]();
  }
  return responses;
}
