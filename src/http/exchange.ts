import type { Caller } from "../contract/caller.ts";
import type { Failure } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { type RequestStage, requestStages } from "../contract/requests.ts";
import type { Payer } from "../timing/turns.ts";
import type { CompiledOperation } from "./compiled-operation.ts";
import type { PendingResult } from "./deadlines.ts";
import type { ClientAddresses, PeerAddresses } from "./input/client-address.ts";
import type { BodyReader, BodyResult } from "./input/read-body.ts";
import type { RoutedRequest } from "./input/read-input.ts";
import type { Admission } from "./interfaces.ts";
import type { Simulation } from "./simulation/read-simulation.ts";

/** Seconds after which a connection that neither sends nor receives is closed. An open stream has no limit. */
export const IDLE_TIMEOUT = 30;

/** One path below the base address with its operations by method; an unknown path has none. */
export interface Route {
  readonly methods: ReadonlyMap<string, CompiledOperation>;
  /** The value of `Allow`: the methods that the path has. Empty for an unknown path. */
  readonly allow: string;
  /** Set for a path outside the base address whose requests are messages. */
  readonly messages?: Messages;
}

/** Messages pass the stages of every request until their bodies are read. Each then becomes requests of operations. */
export interface Messages {
  readonly read: BodyReader;
  /** Answers a message of a caller. The requests that it becomes are counted and reported, not the message. */
  readonly answer: (exchange: Exchange, caller: Caller, read: Exclude<BodyResult, Failure>) => Promise<Response>;
}

/** Gives access to the connections of requests; the server implements it. */
export interface Peers extends PeerAddresses {
  /** Sets how many seconds the connection may be idle; 0 for any time. */
  timeout(request: Request, seconds: number): void;
}

const places = Object.fromEntries(requestStages.map((stage, place) => [stage, place])) as Record<RequestStage, number>;

/** One request in flight: what is known of it so far, for its response and its reports. */
export class Exchange {
  readonly request: RoutedRequest;
  readonly route: Route;
  /** Unique among the processes of the service, in `X-Request-Id` and in the log. */
  readonly id: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  readonly peers: Peers;
  readonly #addresses: ClientAddresses;
  #address: string | undefined;
  /** The operation that path and method name, if there is one. */
  readonly compiled: CompiledOperation | undefined;

  #stage: RequestStage = "identify";
  /** The earlier stage that its wait or its failure belongs to; undefined for the one that it is in. */
  earlierStage: Exclude<RequestStage, "openStream"> | undefined;
  /** The pending response; set when a stage must wait. */
  pending: PendingResult<Response> | undefined;
  caller: Caller | undefined;
  /** The shop whose time it uses, also if it is refused at overload; undefined without a valid key. */
  payer: Payer;
  admission: Admission | undefined;
  /** What the request asks to simulate. */
  simulation: Simulation | undefined;
  /** The id of the resource that it created; empty for none. */
  created = "";
  /** True if the outcome is a replay. */
  isReplay = false;
  /** Why it failed; undefined for a success. */
  failed: Failure | undefined;

  /** The stage that reports name for its wait or its failure. */
  get reportedStage(): RequestStage {
    return this.earlierStage ?? this.#stage;
  }

  /** Begins a stage. Stages run only in their order; a message skips some. */
  enter(stage: RequestStage): void {
    if (places[stage] <= places[this.#stage]) throw new TypeError(`Stage ${stage} cannot follow ${this.#stage}.`);
    this.#stage = stage;
  }

  get operation(): Operation | undefined {
    return this.compiled?.operation;
  }

  /** True for what may change something: a message, and an operation other than a `GET`. */
  get isWrite(): boolean {
    const { operation, route } = this;
    return operation ? operation.method !== "GET" : route.messages !== undefined;
  }

  /** The client's address. It is looked up once, because that can be a system call. */
  get address(): string {
    return (this.#address ??= this.#addresses.fixed ?? this.#addresses.ofRequest(this.request, this.peers));
  }

  /** Sets how many seconds the connection may be idle; 0 for any time. */
  setIdleTimeout(seconds: number): void {
    this.peers.timeout(this.request, seconds);
  }

  constructor(request: RoutedRequest, route: Route, id: string, peers: Peers, addresses: ClientAddresses) {
    this.request = request;
    this.route = route;
    this.id = id;
    this.peers = peers;
    this.#addresses = addresses;
    const { method } = request;
    this.compiled = route.methods.get(method === "HEAD" ? "GET" : method);
  }
}
