import { type ReservedSQL, SQL } from "bun";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { EngineSql, Row, SqlParameter, Values } from "../statement.ts";
import type { Host, PostgresAddress } from "./address.ts";
import { cannotOpen, NoConnection } from "./errors.ts";
import { watchForSilence, withSilenceLimit } from "./silence.ts";

/** How long connecting may take, in milliseconds. */
const CONNECT_DEADLINE = 2_000;
/**
 * A silent connection is closed this long after the deadline of a statement, in milliseconds: the server may still
 * report the timeout.
 */
const GRACE = 500;
/**
 * How long a session may be idle in a transaction, in milliseconds. A process that is frozen or blocked for longer loses
 * the transaction, because others wait for its locks.
 */
const IDLE_IN_TRANSACTION = 2_000;
/** The oldest major version of PostgreSQL that is supported. */
const OLDEST_SERVER = 15;

interface ServerRow {
  readonly version: string;
  readonly read_only: string;
  readonly encoding: string;
}

export interface ConnectionOptions {
  readonly address: PostgresAddress;
  /**
   * The server cancels statements that take longer, in milliseconds. A connection that is silent for 500 ms more is
   * closed.
   */
  readonly deadline: number;
  /** True if the connection runs only reads, each a single statement. */
  readonly isReader?: boolean;
  /** True if every transaction of the connection begins with a lock: see `lockStatement`. */
  readonly isLocking?: boolean;
  /** A statement that waits for a lock for longer fails, in milliseconds. Default: the deadline. */
  readonly lockTimeout?: number;
  /** The server ends a session that is idle in a transaction for longer, in milliseconds. Default: 2 s. */
  readonly idle?: number;
  /** Called when the connection was closed because the server did not respond. */
  readonly onSilent?: () => void;
}

/**
 * Settings that make reads cheap. Each statement is planned once, for all values. Such a generic plan assumes that a
 * third of all rows follow any id, and that any `LIMIT` returns a tenth of them. Sorting and JIT compilation pay off
 * only for that many rows, so both are off, and the planner uses an index that has the order.
 */
const reading = {
  plan_cache_mode: "force_generic_plan",
  enable_sort: "off",
  enable_incremental_sort: "off",
  jit: "off",
};

/** Settings that isolate transactions. Single read statements are isolated without them, and do not pay their cost. */
const serializable = { default_transaction_isolation: "serializable" };

/**
 * One session with the server. Statements that are sent without waiting for earlier responses share a round trip. The
 * server runs them in order. Throws the errors of the driver.
 */
export class Connection {
  readonly #pool: SQL;
  readonly #session: ReservedSQL;
  readonly #templates = new Map<EngineSql, TemplateStringsArray>();
  readonly #watch: Timer;
  #isOpen = true;
  #isSilent = false;
  #pending = 0;
  #answered = 0;

  /**
   * Connects to the server that accepts writes. Rejects with the driver's error, with `StorageUnavailable` if no server
   * takes writes or answers, or with `StorageUnusable` if the server cannot hold a store.
   */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const attempts = options.address.hosts.map((host) => Connection.#openAt(host, options));
    try {
      const connection = await Promise.any(attempts);
      for (const attempt of attempts)
        void attempt.then((other) => other !== connection && other.close()).catch(() => {});
      return connection;
    } catch (error) {
      const errors = (error as AggregateError).errors as Error[];
      throw errors.find((one) => one instanceof StorageUnusable) ?? errors[0];
    }
  }

  static async #openAt(host: Host, options: ConnectionOptions): Promise<Connection> {
    const { address, deadline, isReader, isLocking, lockTimeout, idle = IDLE_IN_TRANSACTION } = options;
    const { user, password, database, parameters } = address;
    let connection: Connection | undefined;
    const pool = new SQL({
      // The driver reads its own parameters from the address and passes the others to the server.
      url: `postgres://${host.name}:${host.port}/?${new URLSearchParams(parameters)}`,
      username: user,
      password,
      database,
      // Even if the environment disables it: for other programs, it may set `NODE_TLS_REJECT_UNAUTHORIZED=0`.
      ...(parameters["sslmode"]?.startsWith("verify-") ? { tls: { rejectUnauthorized: true } } : {}),
      max: 1,
      bigint: true,
      connectionTimeout: 0, // `withSilenceLimit` does not count time in which this process was frozen
      onclose: () => connection?.close(),
      connection: {
        application_name: "petstore",
        client_encoding: "UTF8",
        ...(isReader ? reading : serializable),
        // Of a table that is empty when the plan is made, the whole is cheapest to read, and would be for a minute while it
        // grows. In a serializable transaction, that also counts as a read of every row, and would cause conflicts.
        enable_seqscan: "off",
        ...(isLocking && { default_transaction_isolation: "read committed" }),
        ...(lockTimeout !== undefined && { lock_timeout: String(lockTimeout) }),
        statement_timeout: String(deadline),
        idle_in_transaction_session_timeout: String(idle),
      },
    });
    try {
      const session = await withSilenceLimit(reserveSession(pool, host, isReader === true), CONNECT_DEADLINE);
      connection = new Connection(pool, session, options);
      return connection;
    } catch (error) {
      void pool.close({ timeout: 0 });
      throw error;
    }
  }

  private constructor(pool: SQL, session: ReservedSQL, { deadline, onSilent }: ConnectionOptions) {
    this.#pool = pool;
    this.#session = session;
    let answered = 0;
    const isSilent = () => {
      const hasAnswered = this.#answered !== answered;
      answered = this.#answered;
      return this.#pending > 0 && !hasAnswered;
    };
    this.#watch = watchForSilence(deadline + GRACE, isSilent, () => {
      this.#isSilent = true;
      this.close();
      onSilent?.();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the connection was closed because the server did not respond. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Ends the session if no statement is pending. */
  closeIfIdle(): void {
    if (this.#pending === 0) this.close();
  }

  /** Sends a statement immediately. Resolves with its rows; their `command` is the server's command tag. */
  async run(statement: EngineSql, parameters: Values = []): Promise<Row[] & { command: string }> {
    this.#pending++;
    try {
      // Only in this form does the driver pipeline a statement without parameters.
      return parameters.length === 0
        ? await this.#session(this.#template(statement))
        : await this.#session.unsafe(statement.sql, parameters.map(exact));
    } finally {
      this.#pending--;
      this.#answered++;
    }
  }

  /** Runs several statements, in one transaction unless the text itself contains transaction commands. */
  async runScript(sql: string): Promise<void> {
    this.#pending++;
    try {
      await this.#session.unsafe(sql);
    } finally {
      this.#pending--;
      this.#answered++;
    }
  }

  /** Ends the session immediately. Pending statements reject. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#watch);
    void this.#pool.close({ timeout: 0 });
  }

  #template(statement: EngineSql): TemplateStringsArray {
    return this.#templates.getOrInsertComputed(
      statement,
      ({ sql }) => Object.defineProperty([sql], "raw", { value: [sql] }) as unknown as TemplateStringsArray,
    );
  }
}

/** Returns the session of a pool if its server is usable. */
async function reserveSession(pool: SQL, host: Host, isReader: boolean): Promise<ReservedSQL> {
  const session = await pool.reserve();
  // A reader must not write, but its server must be one that takes writes: so its later transactions are read-only. The database may be configured to acknowledge commits before they are on disk. This session overrides that.
  const [server] = await session<ServerRow[]>`
    SELECT current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS read_only,
      current_setting('server_encoding') AS encoding,
      set_config('synchronous_commit', COALESCE(NULLIF(current_setting('synchronous_commit'), 'off'), 'on'), false),
      set_config('default_transaction_read_only', ${isReader ? "on" : "off"}, false)`;
  requireRecentServer(Number(server?.version));
  requireUsableEncoding(server?.encoding);
  if (server?.read_only !== "off") throw new NoConnection(`${host.name}:${host.port} takes no writes.`);
  return session;
}

/** The driver derives the SQL type of a number from its value. A bigint is always an int8. */
function exact(parameter: SqlParameter): string | bigint | null {
  return typeof parameter === "number" ? BigInt(parameter) : parameter;
}

function requireRecentServer(version: number): void {
  if (version < OLDEST_SERVER * 10_000) {
    throw new StorageUnusable(
      `PostgreSQL ${Math.floor(version / 10_000)} is too old: ${OLDEST_SERVER} or later is needed.`,
    );
  }
}

/** Other encodings lack characters that clients and the service itself use. SQL_ASCII stores all bytes as they are. */
function requireUsableEncoding(encoding: string | undefined): void {
  if (encoding === "UTF8" || encoding === "SQL_ASCII") return;
  throw new StorageUnusable(
    `The database has the encoding ${encoding}. Make one with UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  );
}

/** Runs the work on a connection, which it closes. Rejects with `StorageUnusable` or `StorageUnavailable`. */
export async function withConnection<T>(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.open(options);
    return await work(connection);
  } catch (error) {
    throw error instanceof StorageUnavailable ? error : cannotOpen(options.address.shown, error);
  } finally {
    connection?.close();
  }
}
