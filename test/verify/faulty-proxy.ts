// A proxy in front of the service that breaks one thing, to see which check of `petstore verify` finds it.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createOldServer } from "node:https";
import { type AddressInfo, connect, createServer as createListener, type Server } from "node:net";

/** A request on its way to the service. A fault may change it. */
export interface Passed {
  method: string;
  /** With the query: `/v1/pets?limit=1`. */
  path: string;
  headers: Record<string, string | undefined>;
  body: string;
  /** How long the body took, in milliseconds. */
  readonly took: number;
  /** The address that the client claims to have. */
  readonly claimed: string | undefined;
}

/** A response on its way back. A fault may change it. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** What is broken. */
export interface Fault {
  /** Changes a request, or answers it. */
  readonly request?: (request: Passed) => Partial<Answer> | "close" | undefined;
  /** Changes a response, except a stream. */
  readonly response?: (answer: Answer, request: Passed) => unknown;
  /** Changes a piece of a stream. */
  readonly stream?: (text: string, request: Passed) => string | Promise<string>;
  /** Serves http on the port of https. */
  readonly takesPlain?: boolean;
  /** Speaks HTTP/1.1 only. */
  readonly isOld?: boolean;
  /** Shows what is for operators. */
  readonly isOpen?: boolean;
}

/** TLS handshakes begin with this byte. */
const HANDSHAKE = 0x16;

/** Where a proxy listens, and what for. */
export interface Front {
  /** The port of the service. */
  readonly target: number;
  /** Its base address, in whose place responses have that of the proxy; by default, they are passed on as they are. */
  readonly base?: string;
  /** With a certificate, the proxy has TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
  readonly host?: string;
  /** By default any that is free. */
  readonly port?: number;
}

export class FaultyProxy {
  /** Clients of each proxy, and of each fault of one, are at other addresses. */
  static #count = 0;

  readonly #front: Front;
  readonly #listener: Server;
  readonly #servers: readonly Server[];
  #fault: Fault = {};
  #number = ++FaultyProxy.#count;

  /** Rejects if it cannot listen. */
  static async start(front: Front, fault: Fault = {}): Promise<FaultyProxy> {
    const { certificate, host = "127.0.0.1", port = 0 } = front;
    const files = certificate && { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) };
    const proxy = new FaultyProxy(front, files);
    proxy.#fault = fault;
    await once(proxy.#listener.listen(port, host), "listening");
    const inner = proxy.#servers.filter((server) => server !== proxy.#listener);
    for (const server of inner) await once(server.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }

  private constructor(front: Front, files: { readonly cert: Buffer; readonly key: Buffer } | undefined) {
    this.#front = front;
    const handle = (incoming: unknown, outgoing: unknown) =>
      void this.#serve(incoming as IncomingMessage, outgoing as ServerResponse).catch(() =>
        (outgoing as ServerResponse).destroy(),
      );
    const plain: Server = createServer(handle);
    if (!files) {
      this.#servers = [plain];
      this.#listener = plain;
      return;
    }
    const secure = createSecureServer({ ...files, allowHTTP1: true }, handle) as unknown as Server;
    const old: Server = createOldServer(files, handle);
    this.#listener = createListener((socket) => {
      socket
        .on("error", () => {})
        .once("data", (first: Buffer) => {
          const { takesPlain = false, isOld = false } = this.#fault;
          const chosen = first[0] === HANDSHAKE ? (isOld ? old : secure) : takesPlain ? plain : undefined;
          if (!chosen) {
            socket.destroy();
            return;
          }
          const { port } = chosen.address() as AddressInfo;
          const inner = connect({ host: "127.0.0.1", port, localAddress: socket.remoteAddress });
          inner.on("error", () => socket.destroy()).write(first);
          socket.pipe(inner).pipe(socket);
        });
    });
    this.#servers = [plain, secure, old, this.#listener];
  }

  /** The base address behind it. */
  get base(): string {
    const { certificate, host = "127.0.0.1" } = this.#front;
    const { port } = this.#listener.address() as AddressInfo;
    if (port === 443) return `https://${host}/v1`;
    return certificate ? `https://localhost:${port}/v1` : `http://${host}:${port}/v1`;
  }

  /** From now on, this is broken. */
  break(fault: Fault): void {
    this.#fault = fault;
    this.#number = ++FaultyProxy.#count;
  }

  stop(): void {
    for (const server of this.#servers) server.close();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const fault = this.#fault;
    const { method = "", url = "", headers, socket } = incoming;
    const began = performance.now();
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const passed: Passed = {
      method,
      path: url,
      headers: { ...(headers as Passed["headers"]) },
      body: Buffer.concat(pieces).toString(),
      took: performance.now() - began,
      claimed: headers["x-forwarded-for"] as string | undefined,
    };
    passed.headers["x-forwarded-for"] = `198.51.${this.#number}.${socket.remoteAddress?.split(".").at(-1)}`;
    const isClosed = /^\/(healthz|readyz|metrics)$/.test(url) && !fault.isOpen;
    const own = fault.request?.(passed) ?? (isClosed ? { status: 404 } : undefined);
    if (own === "close") {
      socket.destroy();
      return;
    }
    if (own) {
      const { status = 200, headers: more, body = Buffer.alloc(0) } = own;
      send(outgoing, { status, headers: { ...more, "content-length": `${body.length}` }, body });
      return;
    }
    delete passed.headers["transfer-encoding"];
    if (passed.body) passed.headers["content-length"] = `${Buffer.byteLength(passed.body)}`;
    const place = { host: "127.0.0.1", port: this.#front.target, method: passed.method, path: passed.path };
    // A connection of its own, because it is destroyed with that of the client.
    const onward = request({ ...place, agent: false, headers: defined(passed.headers) });
    outgoing.on("close", () => onward.destroy());
    onward.end(passed.body);
    const [response] = (await once(onward, "response")) as [IncomingMessage];
    onward.on("error", () => outgoing.destroy());
    await passBack(response, outgoing, passed, fault, [this.#front.base ?? this.base, this.base]);
  }
}

async function passBack(
  response: IncomingMessage,
  outgoing: ServerResponse,
  passed: Passed,
  fault: Fault,
  [base, own]: readonly [string, string],
): Promise<void> {
  const { statusCode: status = 0, headers } = response;
  if (headers["content-type"] === "text/event-stream") {
    outgoing.writeHead(status, headers as Record<string, string>).flushHeaders();
    for await (const piece of response) outgoing.write((await fault.stream?.(String(piece), passed)) ?? piece);
    outgoing.end();
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const answer: Answer = { status, headers: { ...headers }, body: Buffer.concat(pieces) };
  if (base !== own) {
    for (const name of ["location", "link"]) {
      if (answer.headers[name]) answer.headers[name] = String(answer.headers[name]).replaceAll(base, own);
    }
    if (answer.body.includes(base)) answer.body = Buffer.from(answer.body.toString().replaceAll(base, own));
  }
  delete answer.headers["connection"];
  delete answer.headers["transfer-encoding"];
  fault.response?.(answer, passed);
  if (passed.method !== "HEAD" && answer.status !== 304) answer.headers["content-length"] = `${answer.body.length}`;
  send(outgoing, answer);
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, defined(headers)).end(body);
}

/** Headers without those that are undefined. */
function defined(headers: Answer["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
