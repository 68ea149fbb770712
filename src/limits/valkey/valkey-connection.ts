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
const serverOptions = (silence: number) =>
  ({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: silence,
    socketTimeout: silence,
  }) satisfies RedisOptions;

const clusterOptions = (silence: number): ClusterOptions => ({
  enableOfflineQueue: true, // without it, a node is refused that is just being connected to
  enableAutoPipelining: true,
  clusterRetryStrategy: () => RETRY,
  slotsRefreshTimeout: silence,
  slotsRefreshInterval: SILENCE,
  retryDelayOnClusterDown: 0,
  retryDelayOnFailover: 0,
  maxRedirections: 3,
});

/**
 * Connects to the server or cluster, now and again whenever the connection is lost. Resolves when it is
 * there, or after `silence` milliseconds without it: as long as it may be silent later.
 */
export async function connectValkey(address: ValkeyAddress, silence = SILENCE): Promise<ValkeyConnection> {
  const driver = await import("ioredis"); // a service without such a server starts sooner without it
  const { nodes, isCluster } = address;
  const connect = isCluster ? connectCluster : connectServer;
  const connection = connect(driver, nodes, silence);
  connection.on("error", () => {}); // whoever asks is told
  const ready = new Promise<void>((resolve) => void connection.once("ready", resolve));
  await isDoneWithin(ready, silence);
  return connection;
}

type Driver = typeof import("ioredis");

function connectServer(driver: Driver, [node]: readonly string[], silence: number): ValkeyConnection {
  const options = { ...serverOptions(silence), enableAutoPipelining: true, retryStrategy: () => RETRY };
  return new driver.Redis(node as string, options);
}

function connectCluster(driver: Driver, nodes: readonly string[], silence: number): ValkeyConnection {
  const { username, password, protocol } = new URL(nodes[0] as string);
  return new driver.Cluster([...nodes], {
    ...clusterOptions(silence),
    redisOptions: {
      ...serverOptions(silence),
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" ? { tls: {} } : {}),
    },
  });
}
