import type { Caller } from "../contract/caller.ts";
import type { Failure } from "../contract/errors.ts";
import type { Input, Success } from "../contract/handler.ts";
import type { RequestStage } from "../contract/requests.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import type { PendingResult } from "./deadlines.ts";
import type { RoutedRequest } from "./input/read-input.ts";
import type { Admission } from "./interfaces.ts";
import type { RenderedBody } from "./response/rendered-body.ts";
import type { Simulation } from "./simulation/read-simulation.ts";
import type { OpenStream } from "./streams/open-stream.ts";

/** Seconds after which a connection that neither sends nor receives is closed. An open stream has no limit. */
export const IDLE_TIMEOUT = 30;

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

/** Gives access to the connections of requests; the server implements it. */
export interface Peers {
  /** The address and port of the peer. */
  requestIP(request: Request): Peer | null;
  /** Sets how many seconds the connection may be idle; 0 for any time. */
  timeout(request: Request, seconds: number): void;
}

/** One request in flight, with the results of its stages. */
export class Exchange {
  readonly request: RoutedRequest;
  readonly route: Route;
  /** Unique among the processes of the service, in `X-Request-Id` and in the log. */
  readonly id: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  /** Provides the peer's address, which is looked up only when it is needed. */
  readonly #peers: Peers;
  #peer: Peer | null | undefined;
  /** The operation that path and method name, if there is one. */
  readonly operation: CompiledOperation | undefined;

  /** The pending response; set when a stage must wait. */
  pending: PendingResult<Response> | undefined;
  /** True while it waits for its own body, not for the service. */
  awaitsBody = false;

  /** Set by `identify`: the caller, why the request is refused, and the version of the keys from which this follows. */
  caller: Caller | undefined;
  authFailure: Failure | undefined;
  keysVersion: number | undefined;
  /** Set by `admit`. */
  admission: Admission | undefined;
  /** Set by `simulate` if the request has the header. */
  simulation: Simulation | undefined;
  /** Set by `readInput`. */
  input: Input | undefined;
  /** Set by `handle`. */
  success: Success | undefined;
  /** The success as text, if it was already rendered. */
  rendered: RenderedBody | undefined;
  /** Set by `openStream`, for a response that does not end. */
  stream: OpenStream | undefined;
  /** Why it failed; undefined for a success. */
  failed: Failure | undefined;
  /** The stage that it failed in or is waiting in. */
  stage: RequestStage = "identify";
  /** The client's address, once it has been looked up. */
  address: string | undefined;
  /** True if the outcome is a replay. */
  isReplay = false;

  /** True for an operation that may change something: any but a `GET`. */
  get isWrite(): boolean {
    return this.operation !== undefined && this.operation.operation.method !== "GET";
  }

  /** The peer's address and port; null if the connection has ended. Cached, because each look-up is a system call. */
  get peer(): Peer | null {
    return this.#peer === undefined ? (this.#peer = this.#peers.requestIP(this.request)) : this.#peer;
  }

  /** Sets how many seconds the connection may be idle; 0 for any time. */
  setIdleTimeout(seconds: number): void {
    this.#peers.timeout(this.request, seconds);
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
