// A proxy in front of the service that spoils the next exchange, to see what a client does about it.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";

/** What happens to an exchange: nothing, no response, a response that ends early, or a 429. */
type Fault = "none" | "cut before" | "cut after" | "cut within" | "429";

/** What the proxy has seen of a client since `begin`. */
interface Sight {
  readonly requests: { readonly method: string; readonly idempotencyKey: string | undefined }[];
  /** Responses with the status 429 that reached the client. */
  limited: number;
}

export class FaultyProxy {
  readonly #server: Server;
  readonly #target: number;
  #faults: Fault[] = [];
  #sight: Sight = { requests: [], limited: 0 };

  /** Listens on `port` and passes requests on to the service at `target`, another port. */
  static async start(port: number, target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(port, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => this.#serve(incoming, outgoing));
  }

  /** The next exchanges get these faults, one each; those after them get none. */
  begin(...faults: Fault[]): Sight {
    this.#faults = faults;
    this.#sight = { requests: [], limited: 0 };
    return this.#sight;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = "", url, headers } = incoming;
    this.#sight.requests.push({ method, idempotencyKey: headers["idempotency-key"] as string | undefined });
    const fault = this.#faults.shift() ?? "none";
    if (fault === "cut before") {
      incoming.socket.destroy();
      return;
    }
    if (fault === "429") {
      this.#sight.limited++;
      const body = '{"code":"rate_limit_exceeded","message":"Simulated.","status":429}';
      outgoing.writeHead(429, { "Retry-After": "1", "Content-Type": "application/json" }).end(body);
      return;
    }
    const passed = request({ host: "127.0.0.1", port: this.#target, method, path: url, headers });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    passed.on("response", (response) => {
      if (response.statusCode === 429) this.#sight.limited++;
      if (fault === "cut after") {
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.on("error", () => {});
      if (fault === "cut within") response.once("data", (bytes) => outgoing.write(bytes, () => outgoing.destroy()));
      else response.pipe(outgoing);
    });
    incoming.pipe(passed);
  }
}
