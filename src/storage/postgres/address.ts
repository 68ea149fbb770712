/** One server of a database. */
export interface Host {
  readonly name: string;
  readonly port: number;
}

/** The address of a database: one server, or several servers of which one is the primary. */
export interface PostgresAddress {
  /** The address without the password, for messages. */
  readonly shown: string;
  readonly hosts: readonly Host[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** All other parameters, unchanged: `sslmode`, or session settings for the server. */
  readonly parameters: Readonly<Record<string, string>>;
}

const form = /^postgres(?:ql)?:\/\/([^/?#@]+)@([^/?#@]+)\/([^/?#]+)(?:\?([^#]*))?$/;
const hostForm = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/;

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`, the connection URI of libpq
 * (PostgreSQL documentation, section 34.1.1.2). User and database are required. `target_session_attrs` must be
 * `read-write`, which is also its default. Returns undefined if the text is invalid.
 */
export function parsePostgresAddress(text: string): PostgresAddress | undefined {
  const [, login, servers, path, query] = form.exec(text) ?? [];
  if (login === undefined || servers === undefined || path === undefined) return undefined;
  const hosts = servers.split(",").map(parseHost);
  const credentials = splitOnce(login, ":").map(decode);
  const [user, password = ""] = credentials;
  const database = decode(path);
  const { target_session_attrs: target = "read-write", ...parameters } = Object.fromEntries(new URLSearchParams(query));
  if (!user || !database || credentials.includes(undefined) || target !== "read-write") return undefined;
  if (!hosts.every((host) => host !== undefined)) return undefined;
  const shown = `postgres://${encodeURIComponent(user)}@${servers}/${path}`;
  return { shown, hosts, user, password, database, parameters };
}

function parseHost(text: string): Host | undefined {
  const [, name, port = "5432"] = hostForm.exec(text) ?? [];
  return name !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? { name, port: Number(port) } : undefined;
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Undefined if the percent-encoding is invalid. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
