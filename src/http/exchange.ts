import type { Failure } from "../contract/errors.ts";
import type { Input, Success } from "../contract/operation.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import type { Pending } from "./deadlines.ts";
import type { Admission, Caller } from "./ports.ts";
import type { RoutedRequest } from "./read-input.ts";
import type { RenderedBody } from "./rendered-body.ts";
import type { Simulation } from "./simulation.ts";

/** One path below the base address with its operations by method; an unknown path has none. */
export interface Route {
  readonly methods: ReadonlyMap<string, CompiledOperation>;
  /** The value of `Allow`: the methods that the path has. Empty for an unknown path. */
  readonly allow: string;
}

interface Peer {
  readonly address: string;
  readonly port: number;
}

/** Tells the address and port of the peer of a request. */
export interface Peers {
  requestIP(request: Request): Peer | null;
}

/** One request on its way through the stages, and what they found out about it. */
export class Exchange {
  readonly request: RoutedRequest;
  readonly route: Route;
  /** Unique among the processes of the service, in `X-Request-Id` and in the log. */
  readonly id: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  /** Knows the address of the peer, which is asked for only when it is needed. */
  readonly #peers: Peers;
  #peer: Peer | null | undefined;
  /** The operation that path and method name, if there is one. */
  readonly operation: CompiledOperation | undefined;

  /** Set when a stage has to wait: the answer that will come. */
  pending: Pending<Response> | undefined;
  /** True while it waits for its own body, not for the service. */
  awaitsBody = false;

  /** Set by `identify`: the caller, or why there is none. */
  caller: Caller | undefined;
  authFailure: Failure | undefined;
  /** Set by `admit`. */
  admission: Admission | undefined;
  /** Set by `simulate`, if the request asks for it. */
  simulation: Simulation | undefined;
  /** Set by `readInput`. */
  input: Input | undefined;
  /** Set by `handle`. */
  success: Success | undefined;
  /** The success as text, where it was rendered before it is answered. */
  rendered: RenderedBody | undefined;
  /** Why it failed; undefined for a success. */
  failed: Failure | undefined;
  /** The client's address, once it was asked for. */
  address: string | undefined;
  /** True if the outcome is one that was given before. */
  isReplay = false;

  /** True for an operation that changes something, which takes the store a while. */
  get isWrite(): boolean {
    return this.operation !== undefined && this.operation.operation.method !== "GET";
  }

  /** Tells its connection from others that are open; empty if it has ended. */
  get connection(): string {
    const { peer } = this;
    return peer ? `${peer.address} ${peer.port}` : "";
  }

  /** The peer's address and port; null if the connection has ended. Asked for once: each time is a system call. */
  get peer(): Peer | null {
    return this.#peer === undefined ? (this.#peer = this.#peers.requestIP(this.request)) : this.#peer;
  }

  constructor(request: RoutedRequest, route: Route, id: string, startedAt: number, peers: Peers) {
    this.request = request;
    this.route = route;
    this.id = id;
    this.startedAt = startedAt;
    this.#peers = peers;
    const { method } = request;
    this.operation = route.methods.get(method === "HEAD" ? "GET" : method);
  }
}
