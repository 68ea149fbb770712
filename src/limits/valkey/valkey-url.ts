/** Where a Valkey or Redis server is, or a cluster of them. */
export interface ValkeyAddress {
  /** An address for each host that was named. They may hold a password. */
  readonly nodes: readonly string[];
  readonly isCluster: boolean;
  /** The hosts alone, which everybody may be shown. */
  readonly shown: string;
}

/**
 * The address of a Valkey or Redis server: `valkey://` or `redis://`, with `valkeys://` or `rediss://` over TLS,
 * user and password, port and number of the database; several hosts separated by commas, or
 * `?cluster=true`, for a cluster. Gives undefined for any other text.
 */
export function parseValkeyUrl(text: string): ValkeyAddress | undefined {
  const parts = /^(?:valkey|redis)(s?):\/\/(?:([^@/?#]*)@)?([^/?#@]+)(\/[0-9]*)?(\?cluster=true)?$/.exec(text);
  if (!parts) return undefined;
  const [, tls, user, hosts = "", database = "", asked] = parts;
  const credentials = user === undefined ? "" : `${user}@`;
  const nodes = hosts.split(",").map((host) => `redis${tls}://${credentials}${host}${database}`);
  const isCluster = nodes.length > 1 || asked !== undefined;
  const isPlain = nodes.every((node) => URL.canParse(node) && new URL(node).hostname !== "");
  return isPlain && !(isCluster && database.length > 1) ? { nodes, isCluster, shown: hosts } : undefined;
}
