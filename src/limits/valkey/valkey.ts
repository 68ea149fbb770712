import type { Reply } from "./resp.ts";
import { ValkeyCluster } from "./valkey-cluster.ts";
import { ValkeyLink } from "./valkey-link.ts";
import type { ValkeyAddress, ValkeyNode } from "./valkey-url.ts";

/** How long a server may be silent while it owes an answer, before it is connected to anew, in milliseconds. */
const SILENCE = 1_000;

/** A Valkey or Redis server, or a cluster of them. What cannot be asked now is not asked later. */
export interface Valkey {
  /**
   * Sends a command (see `encodeCommand`) to the server that holds a key. Rejects with a `ReplyError` if it is
   * refused, with another error if the server cannot be reached.
   */
  ask(key: string, command: string): Promise<Reply>;
  /** Resolves when every server has answered. Rejects if one does not. */
  ping(): Promise<unknown>;
  close(): void;
}

/**
 * Connects to the server or cluster, now and again whenever the connection is lost. Resolves when it is
 * there, or after `silence` milliseconds without it: as long as it may be silent later.
 */
export async function connectValkey(address: ValkeyAddress, silence = SILENCE): Promise<Valkey> {
  if (address.isCluster) return ValkeyCluster.open(address, silence);
  const link = new ValkeyLink(address.nodes[0] as ValkeyNode, address.login, silence);
  await link.hasOpened();
  return { ask: (_key, command) => link.ask(command), ping: () => link.ping(), close: () => link.close() };
}
