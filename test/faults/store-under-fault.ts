import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { environment, newKey } from "../harness/keys.ts";
import { eventually, newDataDir, Program, serveCommand } from "../harness/program.ts";

/** What a client saw: the status, and of an error its code and `Retry-After`; or that the connection was closed. */
export type Seen = number | `${number} ${string} after ${string}` | "closed";

/** What a client sees of a write, or of a read, that the store fails. */
export const unavailable: Seen = "503 storage_unavailable after 1";

/** What a client may see of a service that ends at once: a response on its way may be lost with it. */
export const lastResponses: readonly Seen[] = [unavailable, "closed"];

/** The service as a separate process, on a separate store, that an animal was added to. */
export class StoreUnderFault implements AsyncDisposable {
  readonly dataDir: string;
  readonly file: string;
  readonly key: string;
  program!: Program;
  /** Responses so far that said that the store is not available. */
  failures = 0;

  /** `wrap` gives what starts the service, where it is not just `serveCommand`. */
  static async start(wrap: (dataDir: string) => readonly string[] = () => serveCommand): Promise<StoreUnderFault> {
    const store = await StoreUnderFault.prepare();
    await store.serve(wrap(store.dataDir));
    await store.add("before the fault");
    return store;
  }

  /** A store that nobody serves yet. */
  static async prepare(dataDir = newDataDir()): Promise<StoreUnderFault> {
    return new StoreUnderFault(dataDir, await newKey(dataDir, { perMinute: 1_000_000, perDay: 1_000_000 }));
  }

  private constructor(dataDir: string, key: string) {
    this.dataDir = dataDir;
    this.file = join(dataDir, "petstore.db");
    this.key = key;
  }

  /** Runs the service until it listens, or ends because it refuses the store. */
  async serve(command: readonly string[] = serveCommand): Promise<void> {
    this.program = new Program(this.dataDir, environment, command);
    const { program } = this;
    await program.until(() => program.output.includes('"event":"listening"') || program.child.exitCode !== null);
    program.base = /"event":"listening","address":"([^"]*)"/.exec(program.output)?.[1] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.end("SIGKILL");
    for (const suffix of ["", ".away", ".seed"]) rmSync(this.dataDir + suffix, { recursive: true, force: true });
  }

  get pid(): number {
    return Number(/"pid":([0-9]+)/.exec(this.program.output)?.[1]);
  }

  async add(name: string): Promise<Seen> {
    return this.#see("POST", "/pets", JSON.stringify({ name, categoryId: 1 }));
  }

  /** Adds animals until one fails. The first should. */
  failsWrites(): Promise<Seen> {
    return eventually(
      () => this.add("before the fault"),
      (seen) => seen === unavailable,
    );
  }

  /** Reads an animal. */
  read(id = 1): Promise<Seen> {
    return this.#see("GET", `/pets/${id}`);
  }

  /** Adds animals, all at once. */
  addAll(count: number): Promise<Seen[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => this.add(`one of ${count}: ${index}`)));
  }

  /** What `/readyz` says, as `200 ready`, once it says so. */
  async ready(expected: string): Promise<string> {
    return eventually(
      async () => {
        const response = await fetch(new URL("/readyz", this.program.base));
        return `${response.status} ${((await response.json()) as { status: string }).status}`;
      },
      (said) => said === expected,
    );
  }

  /** The reason that the log gives for the first response that the store was not available, once it is written. */
  async reason(): Promise<string | undefined> {
    const find = () => this.logged().find(({ event }) => event === "storage_unavailable");
    await this.program.until(() => find() !== undefined);
    return find()?.error;
  }

  /** Failures that the lines of the log account for. */
  loggedFailures(): number {
    const lines = this.logged().filter(({ event }) => event === "storage_unavailable");
    return lines.reduce((sum, { times = 1 }) => sum + times, 0);
  }

  /** Lines of the log, except those of requests. */
  logged(): { event: string; error?: string; times?: number }[] {
    const lines = this.program.output.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line)).filter(({ event }) => event !== "request");
  }

  /** Waits until the service has ended at once, as it must, and returns what it said to its operator. */
  async lastWords(): Promise<string> {
    const { program } = this;
    const status = await program.child.exited;
    await program.until(() => program.errors.endsWith("\n"));
    const isOrderly = program.output.includes('"event":"stopping"'); // which would write
    if (status !== 1 || isOrderly) throw new Error(`The service ended with ${status}: ${program.errors}`);
    return program.errors;
  }

  /** Names of the animals in the file. */
  names(): string[] {
    const database = new Database(this.file);
    const rows = database.query<{ name: string }, []>("SELECT name FROM pets ORDER BY id").all();
    database.close();
    return rows.map(({ name }) => name);
  }

  async #see(method: string, path: string, body?: string): Promise<Seen> {
    const headers = { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" };
    const response = await fetch(
      this.program.base + path,
      body === undefined ? { headers } : { method, headers, body },
    ).catch(() => undefined);
    if (!response) return "closed";
    const { code } = (await response.json()) as { code?: string };
    if (code === undefined) return response.status;
    const seen: Seen = `${response.status} ${code} after ${response.headers.get("retry-after")}`;
    if (seen === unavailable) this.failures++;
    return seen;
  }
}
