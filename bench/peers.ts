import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { pageParameterNames } from "../src/contract/paging.ts";
import { rowsAfterByStatus, rowsNear } from "../src/domains/pets/lists/pets-by-id.store.ts";
import { petOperations } from "../src/domains/pets/pets.operations.ts";
import { byId } from "../src/domains/pets/pets.statements.ts";
import { compileListName, cursorScope, encodeCursor } from "../src/http/response/page-links.ts";
import { forSqlite } from "../src/storage/sqlite/connection.ts";
import { freePort } from "../test/harness/free-port.ts";
import { type Environment, type Processes, SERVER_CORE } from "./processes.ts";
import { creates, type Dialect, firstPage, gets, type Request } from "./requests.ts";
import { FIRST_SHOP, GENERATION, type SeededStore } from "./seed.ts";

/** Of the service in production. As `deploy/` does, they tell the allocator to keep unused memory. */
export const PRODUCTION: Environment = { PETSTORE_ENV: "production", MIMALLOC_PURGE_HOLES: "0" };
export const PEERS = join(import.meta.dir, "peers");
/** How long a server may take until it answers, in milliseconds, and how often it is asked. */
const [START_LIMIT, POLL] = [60_000, 2];

/** The services with the same interface; and one without API keys and limits, which shows what the platform takes. */
export const rivals = ["Fastify", "Hono", "Elysia"] as const;
export const ALONE = "Bun and SQLite alone";
export type ServerName = "service" | (typeof rivals)[number] | typeof ALONE;

/** A server that answers. */
export interface RunningServer {
  readonly name: ServerName;
  readonly process: Subprocess;
  readonly url: string;
  readonly dialect: Dialect;
  /** Milliseconds from its start to its first response. */
  readonly startedIn: number;
}

/** What is needed to start a server. */
export interface ServerSetup {
  readonly processes: Processes;
  /** A folder for the server's files. */
  readonly folder: string;
  /** The checkout of the service. */
  readonly service: string;
  readonly store: SeededStore;
  /** A running service, whose headers the server without keys sends. */
  readonly model?: RunningServer;
  /** Settings of the service. */
  readonly settings?: Environment;
}

/** The service's reads of an animal, of the animals near an id, and of a page by status. */
const petStatements = [byId, rowsNear, rowsAfterByStatus].map(({ sql }) => forSqlite(sql));
/** The list of available animals, as cursors name it: with the filters that have a value, given or by default. */
const [listPets] = petOperations;
const filters = Object.entries({ ...listPets.query.properties, status: { default: "available" } }).flatMap(
  ([name, of]) => ("default" in of && !pageParameterNames.includes(name) ? `&${name}=${of.default}` : []),
);
const AVAILABLE = cursorScope(GENERATION, FIRST_SHOP, compileListName(listPets)({}, filters.join("")));

/** Starts a server on a copy of the store and waits until it answers. */
export async function startServer(name: ServerName, setup: ServerSetup): Promise<RunningServer> {
  const { processes, store, folder, service, settings, model } = setup;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "petstore.db");
  copyFileSync(store.file, file);
  const port = freePort();
  const key = store.keys[0] ?? "";
  const place = { cwd: PEERS, env: { PORT: String(port), STORE: file } };
  const dialect = frameworkDialect(store.animals);
  const recipes = {
    service: async () => ({
      command: [process.execPath, "src/main.ts", "serve"],
      cwd: service,
      env: { ...PRODUCTION, PETSTORE_DATA_DIR: folder, PETSTORE_PORT: String(port), ...settings },
      dialect: serviceDialect(store.animals),
    }),
    Fastify: async () => ({ ...place, command: ["node", "fastify/server.mjs"], dialect }),
    Hono: async () => ({ ...place, command: [process.execPath, "hono/server.mjs"], dialect }),
    Elysia: async () => ({ ...place, command: [process.execPath, "elysia/server.mjs"], dialect }),
    [ALONE]: async () => ({
      cwd: PEERS,
      env: { ...place.env, STATEMENTS: JSON.stringify(petStatements), HEADERS: await headersOf(model, key) },
      command: [process.execPath, "sqlite-bun.mjs"],
      dialect: { ...dialect, cursorAfter: String },
    }),
  };
  const { command, cwd, env, dialect: own } = await recipes[name]();
  const errors = join(folder, "errors.txt");
  const started = performance.now();
  const child = processes.start(SERVER_CORE, command, { cwd, env, errors });
  const server = { name, process: child, url: `http://127.0.0.1:${port}`, dialect: own };
  await untilItResponds(server, key, errors);
  return { ...server, startedIn: performance.now() - started };
}

export function serviceDialect(animals: number): Dialect {
  return { animals, cursorAfter: (id) => encodeCursor(String(id), AVAILABLE) };
}

/** That of the services on Fastify, Hono and Elysia. */
export function frameworkDialect(animals: number): Dialect {
  return { animals, cursorAfter: (id) => Buffer.from(String(id)).toString("base64url") };
}

/** The headers of a service's responses to both kinds of reads and to a create, as JSON. */
async function headersOf(model: RunningServer | undefined, key: string): Promise<string> {
  if (!model) throw new Error("A server without keys needs a running service to take its headers from.");
  const { url, dialect } = model;
  const requests = [gets(dialect)[0], firstPage()[0], creates(1)[0]] as [Request, Request, Request];
  const headers = requests.map(async (request) => {
    const response = await send(url, request, key);
    const names = [...response.headers.keys()].filter((name) => name !== "date" && name !== "content-length");
    return Object.fromEntries(names.map((name) => [name, response.headers.get(name)]));
  });
  return JSON.stringify(await Promise.all(headers));
}

/** Sends one request, of which nothing is measured. */
export function send(url: string, { method, path, body, headers }: Request, key: string): Promise<Response> {
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  const all = { ...headers, ...type, Authorization: `Bearer ${key}` };
  return fetch(url + path, { method, headers: all, ...(body !== undefined && { body }) });
}

/** Resolves when a server gives an animal. `errors` is the file of its errors. */
export async function untilItResponds(
  { name, process, url }: { name: string; process: Subprocess; url: string },
  key: string,
  errors: string,
): Promise<void> {
  const end = performance.now() + START_LIMIT;
  while (performance.now() < end && process.exitCode === null) {
    const response = await send(url, { method: "GET", path: "/v1/pets/1" }, key).catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(POLL);
  }
  throw new Error(`${name} does not answer. Its errors: ${readFileSync(errors, "utf8").slice(0, 2_000) || "none"}`);
}

/** Installs the peers' packages where they are missing or older than their lock file. */
export function installPeers(): void {
  const installed = join(PEERS, "node_modules/.package-lock.json");
  const lock = join(PEERS, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log("Installing the peers' packages …");
  const { exitCode } = Bun.spawnSync(["npm", "ci"], { cwd: PEERS, stdout: "ignore", stderr: "inherit" });
  if (exitCode !== 0) throw new Error("The peers' packages could not be installed.");
}
