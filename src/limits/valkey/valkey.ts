import { Cluster, Redis, type RedisOptions } from "ioredis";
import { settlesWithin } from "../../timing/settles-within.ts";
import type { Script } from "./script.ts";
import type { ValkeyAddress } from "./valkey-url.ts";

/** How long it may take to connect, in milliseconds. */
const CONNECT = 1_000;
/** How long a server may take to close a connection that was closed here. */
const DISCONNECT = 100;
/** How often a lost connection is tried again, and how often a cluster is asked which server holds what. */
const RETRY = 200;
const REFRESH = 1_000;
/** Time between two attempts to use keys of which some are being moved, in milliseconds. */
const TRY_AGAIN = 5;
/**
 * A command that is so old is forgotten, in milliseconds. The limiter continues without it long before; this time is
 * longer than the process may have been stopped with the reply waiting for it.
 */
const FORGOTTEN = 60_000;

/**
 * A Valkey or Redis server, or a cluster of them. What cannot be asked now is not asked later, and what may have
 * been done is not done again: a request would be counted twice.
 */
export class Valkey {
  readonly #client: Redis | Cluster;
  readonly #shown: string;
  #failure: string;

  /** Connects, now and whenever the connection is lost. Resolves when it is there, or after `callTimeout` milliseconds. */
  static async connect(address: ValkeyAddress, callTimeout = CONNECT): Promise<Valkey> {
    const valkey = new Valkey(address);
    await settlesWithin(valkey.#ready(), callTimeout);
    return valkey;
  }

  private constructor(address: ValkeyAddress) {
    const [first] = address.nodes;
    this.#shown = first ? `${first.host}:${first.port}` : "";
    this.#failure = `${address.shown}: There is no connection yet.`;
    this.#client = address.isCluster ? this.#openCluster(address) : this.#openServer(address);
  }

  /** True where keys are on different servers. */
  get isCluster(): boolean {
    return this.#client instanceof Cluster;
  }

  /**
   * Runs a script on the server that holds the keys: in a cluster they must be in one slot. Rejects with the
   * server's refusal, or with the reason why it cannot be reached.
   */
  async run(used: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#client.evalsha(used.digest, keys.length, ...keys, ...values);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw this.#explain(error);
      return this.#client.eval(used.lua, keys.length, ...keys, ...values).catch((again: unknown) => {
        throw this.#explain(again);
      });
    }
  }

  /** Resolves when every master has answered. */
  async ping(): Promise<void> {
    const masters = this.#client instanceof Cluster ? this.#client.nodes("master") : [this.#client];
    if (masters.length === 0) throw new Error(this.#failure);
    await Promise.all(masters.map((master) => this.#pingOne(master)));
  }

  async #pingOne(master: Redis): Promise<void> {
    try {
      await master.ping();
    } catch (error) {
      const reason = this.#explain(error);
      const { host, port } = master.options;
      throw this.isCluster && isRefusal(error) ? new Error(`${host}:${port}: ${reason.message}`) : reason;
    }
  }

  /** Gives up connections that nothing comes over any more. New ones may lead to another server. */
  reconnect(): void {
    if (this.#client.status === "ready") this.#client.disconnect(true);
  }

  close(): void {
    this.#failure = "The connection was closed.";
    this.#client.disconnect();
  }

  #openServer(address: ValkeyAddress): Redis {
    const [node] = address.nodes;
    const client = new Redis({
      ...optionsFor(address),
      ...node,
      enableOfflineQueue: false,
      retryStrategy: () => RETRY,
    });
    let isRefused = false;
    client.on("connect", () => {
      isRefused = false;
    });
    client.on("error", (error) => {
      this.#note(error, this.#shown);
      // It would continue with another database than the one that was named.
      isRefused = (error as { command?: { name?: string } }).command?.name === "select";
      if (isRefused) client.disconnect(true);
    });
    client.on("ready", () => {
      if (!isRefused) this.#note(closed, this.#shown);
    });
    return client;
  }

  #openCluster(address: ValkeyAddress): Cluster {
    const cluster = new Cluster([...address.nodes], {
      redisOptions: optionsFor(address),
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: () => RETRY,
      clusterNodeRetryStrategy: () => RETRY,
      slotsRefreshInterval: REFRESH,
      slotsRefreshTimeout: REFRESH,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: TRY_AGAIN,
      // Certificates are for names, which the client would otherwise replace by addresses.
      dnsLookup: (host, found) => found(null, host),
    });
    cluster.on("error", (error: Error) => {
      const { lastNodeError } = error as { lastNodeError?: Error };
      if (!lastNodeError) this.#note(error, this.#shown);
    });
    cluster.on("node error", (error: Error, node: string) => this.#note(error, node));
    return cluster;
  }

  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#client.once("ready", resolve);
    });
  }

  #note(error: Error, node: string): void {
    // A server that does not know AUTH quotes the password: "unknown command 'AUTH', with args beginning with: …".
    this.#failure = `${node}: ${error.message.replace(/, with args .*/s, "")}`;
  }

  /** A server's refusal says what is wrong. What the client says of its connection does not say why there is none. */
  #explain(error: unknown): Error {
    return new Error(isRefusal(error) ? error.message.replace(/, with args .*/s, "") : this.#failure);
  }
}

/** True for what a server said itself. */
function isRefusal(error: unknown): error is Error {
  return (error as Error).name === "ReplyError";
}

const closed = new Error("The server has closed the connection.");

function optionsFor({ login }: ValkeyAddress) {
  return {
    ...(login.user === "" ? {} : { username: login.user }),
    ...(login.password === "" ? {} : { password: login.password }),
    ...(login.isTls ? { tls: {} } : {}),
    db: login.database,
    protocol: 2,
    connectTimeout: CONNECT,
    disconnectTimeout: DISCONNECT,
    commandTimeout: FORGOTTEN,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Either would need a permission more: the limiter itself asks whether the server is ready.
    enableReadyCheck: false,
    disableClientInfo: true,
    // A master that has become a replica: its name may already lead to the server that took its place.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  } satisfies RedisOptions;
}
