import { type ReservedSQL, SQL } from "bun";
import { StorageUnavailable, StorageUnusable } from "../errors.ts";
import type { Row, SqlParameter, Statement } from "../statement.ts";
import type { Host, PostgresAddress } from "./address.ts";
import { watchForSilence, withSilenceLimit } from "./silence.ts";

/** How long connecting may take, in milliseconds. */
const CONNECT_DEADLINE = 2_000;
/** How much later than a statement should have ended a connection is given up, in milliseconds: the server may still say so. */
const GRACE = 500;
/** How long a session may hold a transaction open and do nothing, because its process is frozen, in milliseconds. */
const IDLE_IN_TRANSACTION = 15_000;
const OLDEST_SERVER = 15;

interface HelloRow {
  readonly version: string;
  readonly read_only: string;
}

/** What is to be known of a connection before it is opened. */
export interface ConnectionOptions {
  readonly address: PostgresAddress;
  /** A statement that takes longer is ended by the server; a connection that is silent half a second longer is given up. In milliseconds. */
  readonly deadline: number;
  /** True if it only reads, one statement at a time. */
  readonly isReader?: boolean;
  /** The server ends a session that does nothing in a transaction for longer, in milliseconds. Default: 15 s. */
  readonly idle?: number;
}

/**
 * What makes reads cheap: each is planned once, for all values. Such a plan expects a third of all rows behind any id,
 * and reckons with a tenth of them for any `LIMIT`, so what pays for many rows only must not tempt it: sorting them
 * instead of going by an index that has the order, and compiling.
 */
const reading = {
  plan_cache_mode: "force_generic_plan",
  enable_sort: "off",
  enable_incremental_sort: "off",
  jit: "off",
};

/** What makes transactions run as if one after the other. Reads of one statement are so anyway, and need not pay for it. */
const serializable = {
  default_transaction_isolation: "serializable",
  // A scan of a whole table counts as a read of every row of it: with it, transactions conflict that need not.
  enable_seqscan: "off",
};

/**
 * One session of the server. Statements that are sent one behind the other, without waiting for their
 * answers, share a round trip and are run in this order. Throws the errors of the driver.
 */
export class Connection {
  readonly #pool: SQL;
  readonly #session: ReservedSQL;
  readonly #templates = new Map<Statement, TemplateStringsArray>();
  readonly #watch: Timer;
  #isOpen = true;
  #isSilent = false;
  #pending = 0;
  #answered = 0;

  /** Connects to the one of the servers that takes writes. Throws `StorageUnavailable`, or `StorageUnusable`. */
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
    const { address, deadline, isReader, idle = IDLE_IN_TRANSACTION } = options;
    const { user, password, database, parameters } = address;
    let connection: Connection | undefined;
    const pool = new SQL({
      // The driver reads parameters that are its own from the address, and hands on the others to the server.
      url: `postgres://${host.name}:${host.port}/?${new URLSearchParams(parameters)}`,
      username: user,
      password,
      database,
      max: 1,
      bigint: true,
      connectionTimeout: 0, // ours knows a silent server from a process that stood still
      onclose: () => connection?.close(),
      connection: {
        application_name: "petstore",
        client_encoding: "UTF8",
        ...(isReader ? reading : serializable),
        statement_timeout: String(deadline),
        idle_in_transaction_session_timeout: String(idle),
      },
    });
    try {
      const session = await withSilenceLimit(greet(pool, host), CONNECT_DEADLINE);
      connection = new Connection(pool, session, deadline);
      return connection;
    } catch (error) {
      void pool.close({ timeout: 0 });
      throw error;
    }
  }

  private constructor(pool: SQL, session: ReservedSQL, deadline: number) {
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
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if it was given up because the server did not answer. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Sends a statement at once. Resolves with its rows, and with the name of what was done as their `command`. */
  async run(statement: Statement, parameters: readonly SqlParameter[] = []): Promise<Row[] & { command: string }> {
    this.#pending++;
    try {
      // The driver sends a statement without parameters ahead of answers only in this form.
      return parameters.length === 0
        ? await this.#session(this.#template(statement))
        : await this.#session.unsafe(statement.sql, parameters.map(exact));
    } finally {
      this.#pending--;
      this.#answered++;
    }
  }

  /** Runs a text of several statements, which are one transaction unless they say otherwise. */
  async runScript(sql: string): Promise<void> {
    this.#pending++;
    try {
      await this.#session.unsafe(sql);
    } finally {
      this.#pending--;
      this.#answered++;
    }
  }

  /** Ends the session at once. What it has not answered is rejected. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#watch);
    void this.#pool.close({ timeout: 0 });
  }

  #template(statement: Statement): TemplateStringsArray {
    let template = this.#templates.get(statement);
    if (!template) {
      template = Object.defineProperty([statement.sql], "raw", {
        value: [statement.sql],
      }) as unknown as TemplateStringsArray;
      this.#templates.set(statement, template);
    }
    return template;
  }
}

/** Takes the session of a pool, if its server can be used. */
async function greet(pool: SQL, host: Host): Promise<ReservedSQL> {
  const session = await pool.reserve();
  // A database may be set to acknowledge commits that are not on disk. Ours are.
  const [hello] = await session<HelloRow[]>`
    SELECT current_setting('server_version_num') AS version, current_setting('transaction_read_only') AS read_only,
      set_config('synchronous_commit', COALESCE(NULLIF(current_setting('synchronous_commit'), 'off'), 'on'), false)`;
  requireRecentServer(Number(hello?.version));
  if (hello?.read_only !== "off") throw new StorageUnavailable(`${host.name}:${host.port} takes no writes.`);
  return session;
}

/** The driver tells the server a number's type by its value; a bigint is always an int8. */
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
