import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LoadLimits } from "../../src/http/load-shedder.ts";
import { freePort } from "../harness/free-port.ts";
import { environment, newKey } from "../harness/keys.ts";
import { metric } from "../harness/metrics.ts";
import { eventually, newDataDir, Program, serveCommand } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { type LoadOrder, type LoadReport, runLoad } from "./open-loop.ts";

/** Paths that monitoring requests. */
const watched = ["/healthz", "/readyz", "/metrics"];

/** The service as a separate process, with all that a load on it needs. */
export class LoadedService implements AsyncDisposable {
  readonly program: Program;
  readonly key: string;
  readonly port: number;

  /** `limits` differ from those of the service in a control. With `putsOff: false`, shops may use any time of a turn. */
  static async start(limits?: Partial<LoadLimits> & { readonly putsOff?: false }): Promise<LoadedService> {
    const port = freePort();
    const control = [process.execPath, join(import.meta.dir, "controls/serve.ts"), JSON.stringify(limits)];
    const program = new Program(
      newDataDir(),
      // A line for each request would make the test collect a hundred megabytes.
      { ...environment, PETSTORE_LOG_LEVEL: "warn", PETSTORE_PORT: String(port) },
      limits ? control : serveCommand,
    );
    program.base = `http://127.0.0.1:${port}/v1`;
    await eventually(async () => (await fetch(new URL("/healthz", program.base)).catch(() => undefined))?.ok === true);
    return new LoadedService(program, port, await newKey(program.dataDir, unlimitedQuota));
  }

  private constructor(program: Program, port: number, key: string) {
    this.program = program;
    this.port = port;
    this.key = key;
  }

  /** Ends the service and removes its store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.end();
    rmSync(this.program.dataDir, { recursive: true, force: true });
  }

  /** A key of another account, whose requests count for another shop. */
  otherKey(): Promise<string> {
    return newKey(this.program.dataDir, unlimitedQuota);
  }

  /** A request of the account, byte by byte, or of the one with the given key. */
  request(method: string, path: string, body?: string, key = this.key): string {
    const content = body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`];
    const lines = [`${method} /v1${path} HTTP/1.1`, "Host: petstore", `Authorization: Bearer ${key}`, ...content];
    return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
  }

  /** Puts a load on the service. */
  load(order: Omit<LoadOrder, "port">): Promise<LoadReport> {
    return runLoad({ port: this.port, ...order });
  }

  /** Sends a request by an ordinary client: GET, or POST if it has a body. */
  async call(path: string, body?: string): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" };
    return fetch(this.program.base + path, body === undefined ? { headers } : { method: "POST", headers, body });
  }

  metric(name: string): Promise<number> {
    return metric(this.program.base, name);
  }

  /** Animals in the store. */
  animals(): number {
    const database = new Database(join(this.program.dataDir, "petstore.db"), { readonly: true });
    const row = database.query<{ count: number }, []>("SELECT count(*) AS count FROM pets").get();
    database.close();
    return row?.count ?? 0;
  }

  /** Watches over the service for as long as the work takes. Returns each response other than 200 that it saw. */
  async watchDuring(work: Promise<unknown>): Promise<Set<string>> {
    const seen = new Set<string>();
    const state = { isOver: false };
    void work.finally(() => (state.isOver = true));
    while (!state.isOver) {
      for (const path of watched) {
        const response = await fetch(new URL(path, this.program.base));
        if (response.status !== 200) seen.add(`${path} ${response.status} ${await response.text()}`);
      }
    }
    return seen;
  }
}
