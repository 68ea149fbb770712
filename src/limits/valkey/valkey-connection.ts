import type { Cluster, ClusterOptions, Redis, RedisOptions } from "ioredis";
import { isDoneWithin } from "../../deadline.ts";
import type { ValkeyAddress } from "./valkey-url.ts";

/** A connection to one server, or to a cluster of them. */
export type ValkeyConnection = Redis | Cluster;

/** How long a server may be silent while it owes an answer, before it is connected to anew, in milliseconds. */
const SILENCE = 1_000;
/** How often a lost connection is tried again, in milliseconds. */
const RETRY = 200;

// What cannot be asked now is decided elsewhere: nothing waits, nothing is asked twice.
const neverWait = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: SILENCE,
  socketTimeout: SILENCE,
} satisfies RedisOptions;

const clusterOptions: ClusterOptions = {
  enableOfflineQueue: true, // without it, a node is refused that is just being connected to
  enableAutoPipelining: true,
  clusterRetryStrategy: () => RETRY,
  slotsRefreshTimeout: SILENCE,
  slotsRefreshInterval: SILENCE,
  retryDelayOnClusterDown: 0,
  retryDelayOnFailover: 0,
  maxRedirections: 3,
};

/**
 * Connects to the server or cluster, now and again whenever the connection is lost. Resolves
 * when it is there, or after a second without it.
 */
export async function connectValkey({ nodes, isCluster }: ValkeyAddress): Promise<ValkeyConnection> {
  const driver = await import("ioredis"); // a service without such a server starts sooner without it
  const connection = isCluster ? connectCluster(driver, nodes) : connectServer(driver, nodes[0] as string);
  connection.on("error", () => {}); // whoever asks is told
  const ready = new Promise<void>((resolve) => void connection.once("ready", resolve));
  await isDoneWithin(ready, SILENCE);
  return connection;
}

type Driver = typeof import("ioredis");

function connectServer(driver: Driver, node: string): Redis {
  return new driver.Redis(node, { ...neverWait, enableAutoPipelining: true, retryStrategy: () => RETRY });
}

function connectCluster(driver: Driver, nodes: readonly string[]): Cluster {
  const { username, password, protocol } = new URL(nodes[0] as string);
  return new driver.Cluster([...nodes], {
    ...clusterOptions,
    redisOptions: {
      ...neverWait,
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" ? { tls: {} } : {}),
    },
  });
}
