import { migrations } from "../../src/app/schema.ts";
import { parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { PostgresServer } from "./postgres-server.ts";

const { TEST_POSTGRES_PORT, TEST_POSTGRES_TEMPLATE } = process.env;

/** A server that the test files of a run share, with a database that has the schema, of which all others are copies. */
export class SharedPostgres implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly template: string;

  static async start(): Promise<SharedPostgres> {
    const server = await PostgresServer.start(["max_connections=500"]);
    const template = await server.newDatabase();
    const address = parsePostgresAddress(server.url(template));
    if (!address) throw new Error("The address of a test's server is not valid.");
    await (await openPostgres(address, { migrations })).close();
    return new SharedPostgres(server, template);
  }

  /** The server of the run that this file belongs to, or a new one where there is none. */
  static async find(): Promise<SharedPostgres> {
    if (TEST_POSTGRES_PORT === undefined || TEST_POSTGRES_TEMPLATE === undefined) return SharedPostgres.start();
    return new SharedPostgres(PostgresServer.running(Number(TEST_POSTGRES_PORT)), TEST_POSTGRES_TEMPLATE);
  }

  private constructor(server: PostgresServer, template: string) {
    this.server = server;
    this.template = template;
  }

  /** The environment with which another process finds it. */
  get environment(): Record<string, string> {
    return { TEST_POSTGRES_PORT: String(this.server.port), TEST_POSTGRES_TEMPLATE: this.template };
  }

  /** An empty store: the name of a new database. */
  newDatabase(): Promise<string> {
    return this.server.newDatabase(this.template);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}
