import { Cluster, Redis, type RedisOptions } from "ioredis";
import { settlesWithin } from "../../timing/waiting.ts";
import type { Script } from "./scripts.ts";
import type { ValkeyAddress } from "./valkey-url.ts";

/** How long connecting may take, in milliseconds. */
const CONNECT_TIMEOUT = 1_000;
/** How long a server may take to close a connection after this process closed it, in milliseconds. */
const DISCONNECT_TIMEOUT = 100;
/** The time between two connection attempts, in milliseconds. */
const RETRY = 200;
/** The time between two reads of a cluster's slots, in milliseconds. */
const REFRESH_INTERVAL = 1_000;
/** The time before a retry of a command whose keys are being migrated, in milliseconds. */
const TRY_AGAIN = 5;
/**
 * The timeout of the limiter's commands, in milliseconds. The limiter stops waiting long before. The timeout is long,
 * because a reply that arrives while this process is stopped must still be read.
 */
const COMMAND_TIMEOUT = 60_000;
/** How long a reply may take if a person waits for it, as in a command of the operator, in milliseconds. */
export const OPERATOR_TIMEOUT = 3_000;

/**
 * A Valkey or Redis server or cluster. Commands are not queued while there is no connection. Commands that the server
 * may have run are not sent again, because a request would be counted twice.
 */
export class Valkey {
  readonly #client: Redis | Cluster;
  readonly #firstNode: string;
  #failure: string;

  /**
   * Connects, and reconnects when the connection is lost. Resolves when connected, or after `timeout`; then commands fail
   * until there is a connection. `commandTimeout` is for the reply to a command. Both are in milliseconds.
   */
  static async connect(
    address: ValkeyAddress,
    timeout = CONNECT_TIMEOUT,
    commandTimeout = COMMAND_TIMEOUT,
  ): Promise<Valkey> {
    const valkey = new Valkey(address, commandTimeout);
    await settlesWithin(new Promise((resolve) => valkey.#client.once("ready", resolve)), timeout);
    return valkey;
  }

  private constructor(address: ValkeyAddress, commandTimeout: number) {
    const [first] = address.nodes;
    this.#firstNode = first ? `${first.host}:${first.port}` : "";
    this.#failure = `${address.shown}: There is no connection yet.`;
    this.#client = address.isCluster
      ? this.#openCluster(address, commandTimeout)
      : this.#openServer(address, commandTimeout);
  }

  /** True if keys are spread over several servers. */
  get isCluster(): boolean {
    return this.#client instanceof Cluster;
  }

  /**
   * Runs a script on the server that holds the keys. In a cluster, all keys must be in one slot. Rejects with the
   * server's error, or with the reason why the server cannot be reached.
   */
  async run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#client.evalsha(script.digest, keys.length, ...keys, ...values);
    } catch (error) {
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw this.#explain(error);
      return this.runInOrder(script, keys, values);
    }
  }

  /** Like `run`, but before whatever is run later, although the server may not have the script. */
  async runInOrder(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#client.eval(script.lua, keys.length, ...keys, ...values);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Resolves when every master has replied. */
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

  /** Closes connections that no longer receive anything, and reconnects. New connections may reach another server. */
  reconnect(): void {
    if (this.#client.status === "ready") this.#client.disconnect(true);
  }

  close(): void {
    this.#failure = "The connection was closed.";
    this.#client.disconnect();
  }

  #openServer(address: ValkeyAddress, commandTimeout: number): Redis {
    const [node] = address.nodes;
    const client = new Redis({
      ...optionsFor(address, commandTimeout),
      ...node,
      enableOfflineQueue: false,
      retryStrategy: () => RETRY,
    });
    let isRefused = false;
    client.on("connect", () => {
      isRefused = false;
    });
    client.on("error", (error) => {
      this.#note(error, this.#firstNode);
      // Otherwise the client would continue with a different database.
      isRefused = (error as { command?: { name?: string } }).command?.name === "select";
      if (isRefused) client.disconnect(true);
    });
    client.on("ready", () => {
      // From now on, a failure without an error event means that the server has closed the connection.
      if (!isRefused) this.#note(closed, this.#firstNode);
    });
    return client;
  }

  #openCluster(address: ValkeyAddress, commandTimeout: number): Cluster {
    const cluster = new Cluster([...address.nodes], {
      redisOptions: optionsFor(address, commandTimeout),
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: () => RETRY,
      clusterNodeRetryStrategy: () => RETRY,
      slotsRefreshInterval: REFRESH_INTERVAL,
      slotsRefreshTimeout: REFRESH_INTERVAL,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: TRY_AGAIN,
      // Certificates contain host names, which the client would otherwise replace with addresses.
      dnsLookup: (host, found) => found(null, host),
    });
    cluster.on("error", (error: Error) => {
      const { lastNodeError } = error as { lastNodeError?: Error };
      if (!lastNodeError) this.#note(error, this.#firstNode);
    });
    cluster.on("node error", (error: Error, node: string) => this.#note(error, node));
    return cluster;
  }

  #note(error: Error, node: string): void {
    // A server without AUTH quotes the password: "unknown command 'AUTH', with args beginning with: …". Remove it.
    this.#failure = `${node}: ${error.message.replace(/, with args .*/s, "")}`;
  }

  /** An error of the server explains itself. For errors of the client, the last connection error is the explanation. */
  #explain(error: unknown): Error {
    if ((error as Error).message === "Command timed out") return timedOut; // the message is that of ioredis
    return new Error(isRefusal(error) ? error.message.replace(/, with args .*/s, "") : this.#failure);
  }
}

/** True for an error reply of the server. */
function isRefusal(error: unknown): error is Error {
  return (error as Error).name === "ReplyError";
}

const closed = new Error("The server has closed the connection.");
const timedOut = new Error("The server did not respond in time.");

function optionsFor({ login }: ValkeyAddress, commandTimeout: number) {
  return {
    ...(login.user === "" ? {} : { username: login.user }),
    ...(login.password === "" ? {} : { password: login.password }),
    ...(login.isTls ? { tls: { rejectUnauthorized: true } } : {}), // even if the environment disables it
    db: login.database,
    protocol: 2,
    connectTimeout: CONNECT_TIMEOUT,
    disconnectTimeout: DISCONNECT_TIMEOUT,
    commandTimeout,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Both need additional permissions. The limiter's probe checks whether the server is ready.
    enableReadyCheck: false,
    disableClientInfo: true,
    // The master has become a replica. Its host name may already point to the new master.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  } satisfies RedisOptions;
}
