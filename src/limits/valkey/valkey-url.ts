/** The address of a Valkey or Redis server or cluster. */
export type ValkeyAddress = NonNullable<ReturnType<typeof parseValkeyUrl>>;

const PORT = 6379;
const form = /^(?:valkey|redis)(s?):\/\/(?:([^@/?#]*)@)?([^/?#@]+)(?:\/([0-9]*))?(\?cluster=true)?$/;

/**
 * Parses the URL of a Valkey or Redis server: `valkey://` or `redis://`, or `valkeys://` or `rediss://` for TLS, with
 * optional user, password, port and database number. Several hosts separated by commas, or `?cluster=true`, mean a
 * cluster. Returns undefined if the text is invalid.
 */
export function parseValkeyUrl(text: string) {
  const [, tls, credentials = "", hosts = "", database = "", clusterOption] = form.exec(text) ?? [];
  const nodes = hosts.split(",").map((host) => parseNode(credentials, host));
  const isCluster = nodes.length > 1 || clusterOption !== undefined;
  const [first] = nodes;
  if (!first || (isCluster && database !== "")) return undefined;
  if (!nodes.every((node) => node !== undefined)) return undefined;
  const { user, password } = first;
  return {
    /** All hosts in the URL. */
    nodes: nodes.map(({ host, port }) => ({ host, port })),
    /** The credentials and options of a new connection. Texts may be empty. */
    login: { user, password, database: Number(database), isTls: tls === "s" },
    isCluster,
    /** The hosts without credentials, for messages. */
    shown: hosts,
  };
}

/** Undefined if the host is invalid, or the credentials contain an invalid percent-encoding. */
function parseNode(credentials: string, host: string) {
  const url = URL.parse(`redis://${credentials}@${host}`);
  if (!url?.hostname) return undefined;
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || PORT),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    return undefined;
  }
}
