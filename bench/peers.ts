import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { rowsAfterByStatus, rowsNear } from "../src/domains/pets/pet-pages.store.ts";
import { petOperations } from "../src/domains/pets/pets.operations.ts";
import { byId } from "../src/domains/pets/pets.statements.ts";
import { compileListName, cursorScope, encodeCursor } from "../src/http/response/page-links.ts";
import { forSqlite } from "../src/storage/sqlite/connection.ts";
import { freePort } from "../test/harness/free-port.ts";
import { SERVER_CORE } from "./machine.ts";
import { nginxConfig } from "./peers/nginx-config.ts";
import { type RecordedResponses, recordResponses } from "./peers/recorded-responses.ts";
import type { Environment, Processes } from "./processes.ts";
import { creates, type Dialect } from "./requests.ts";
import { FIRST_SHOP, GENERATION, isAvailable, type SeededStore } from "./seed.ts";

/** Of the service in production. As `deploy/` does, they tell the allocator to keep unused memory. */
export const PRODUCTION: Environment = { PETSTORE_ENV: "production", MIMALLOC_PURGE_HOLES: "0" };
export const PEERS = join(import.meta.dir, "peers");
/** How long a server may take until it answers, in milliseconds. */
const START_LIMIT = 60_000;
/** How often a starting server is asked, in milliseconds: often, because the time to its first response counts. */
const POLL = 2;
/**
 * json-server gets fewer animals than the others: it searches all of them for each request and
 * writes all of them to its file for each new one.
 */
const JSON_SERVER_ANIMALS = 1_000;

/** The servers that are compared where nothing else is said. */
export const serverNames = [
  "service",
  "nginx",
  "Fastify",
  "Hono",
  "bare Bun.serve",
  "reading Bun.serve",
  "Bun.serve with SQLite",
  "bare node:http",
  "json-server",
  "Prism",
] as const;
/** Those, and a program that is compared with the service where there are many shops. */
export type ServerName = (typeof serverNames)[number] | "Bun.serve with keys";

/** Peers that no target refers to. */
export const contextPeers: readonly ServerName[] = ["Bun.serve with keys", "bare node:http", "json-server", "Prism"];

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
  /** The executable of the service. Absent: the service runs from the sources of its checkout. */
  readonly executable?: string;
  readonly store: SeededStore;
  /** A running service, whose responses the bare servers give. */
  readonly model?: RunningServer;
  /** Settings of the service. */
  readonly settings?: Environment;
}

/** The service's reads of an animal, of the animals near an id, and of a page by status. */
const petStatements = [byId, rowsNear, rowsAfterByStatus].map(({ sql }) => forSqlite(sql));
const FIRST_PAGE = "limit=20&status=available";
const AVAILABLE = cursorScope(GENERATION, FIRST_SHOP, compileListName(petOperations[0])({}, "&status=available"));

/** Tells why a server cannot be started; undefined if it can. */
export function unavailableReason(name: ServerName): string | undefined {
  if (name === "nginx") return Bun.which("nginx") ? undefined : "nginx is not installed (Debian: nginx-light)";
  const modules = {
    Fastify: "better-sqlite3/build",
    Hono: "hono",
    "json-server": "json-server",
    Prism: "@stoplight/prism-cli",
  };
  if (!(name in modules)) return undefined;
  const folder = join(PEERS, "node_modules", modules[name as keyof typeof modules]);
  return existsSync(folder) ? undefined : "its packages could not be installed";
}

/** Starts a server on a copy of the store and waits until it answers. */
export async function startServer(name: ServerName, setup: ServerSetup): Promise<RunningServer> {
  const { processes, store, folder } = setup;
  mkdirSync(folder, { recursive: true });
  const port = freePort();
  const { command, cwd, env = {}, dialect } = await recipes[name](setup, port);
  const errors = join(folder, "errors.txt");
  const started = performance.now();
  const process = processes.start(SERVER_CORE, command, { cwd, env, errors });
  const server = { name, process, url: `http://127.0.0.1:${port}`, dialect };
  await untilItResponds(server, store.keys[0] ?? "", errors);
  return { ...server, startedIn: performance.now() - started };
}

/** A command that starts a server, and the paths of its interface. */
interface Recipe {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env?: Environment;
  readonly dialect: Dialect;
}

const recipes: Record<ServerName, (setup: ServerSetup, port: number) => Recipe | Promise<Recipe>> = {
  service: ({ folder, service, executable, store, settings }, port) => {
    copyFileSync(store.file, join(folder, "petstore.db"));
    return {
      command: [...(executable ? [executable] : [process.execPath, "src/main.ts"]), "serve"],
      cwd: service,
      env: { ...PRODUCTION, PETSTORE_DATA_DIR: folder, PETSTORE_PORT: String(port), ...settings },
      dialect: serviceDialect(store.animals),
    };
  },
  Fastify: (setup, port) => storeRecipe(setup, port, ["node", "fastify/server.mjs"]),
  Hono: (setup, port) => storeRecipe(setup, port, [process.execPath, "hono/server.mjs"]),
  nginx: async (setup, port) => {
    const config = join(setup.folder, "nginx.conf");
    writeFileSync(config, nginxConfig(setup.folder, port, await responsesOf(setup)));
    const command = ["nginx", "-p", setup.folder, "-e", "stderr", "-c", config];
    return { command, cwd: setup.folder, dialect: ownDialect(setup.store.animals) };
  },
  "bare Bun.serve": (setup, port) => bareRecipe(setup, port, [process.execPath, "bare-bun.mjs"]),
  "reading Bun.serve": (setup, port) => bareRecipe(setup, port, [process.execPath, "reading-bun.mjs"]),
  "Bun.serve with SQLite": (setup, port) => sqliteRecipe(setup, port, "sqlite-bun.mjs"),
  "Bun.serve with keys": (setup, port) => sqliteRecipe(setup, port, "keys-bun.mjs"),
  "bare node:http": (setup, port) => bareRecipe(setup, port, ["node", "bare-node.mjs"]),
  "json-server": ({ folder }, port) => {
    const pets = Array.from({ length: JSON_SERVER_ANIMALS }, (_, index) => ({
      id: index + 1,
      name: `Animal ${index + 1}`,
      categoryId: (index % 100) + 1,
      status: isAvailable(index + 1) ? "available" : "sold",
    }));
    const file = join(folder, "animals.json");
    writeFileSync(file, JSON.stringify({ pets }));
    const program = join(PEERS, "node_modules/json-server/lib/cli/bin.js");
    return {
      command: ["node", program, "--host", "127.0.0.1", "--port", String(port), file],
      cwd: folder,
      dialect: {
        pets: "/pets",
        animals: JSON_SERVER_ANIMALS,
        firstPage: "_limit=20&status=available",
        pageAfter: undefined,
      },
    };
  },
  Prism: async ({ folder, store, model }, port) => {
    const document = join(folder, "openapi.json");
    writeFileSync(document, await (await fetch(`${model?.url}/openapi.json`)).text());
    const program = join(PEERS, "node_modules/@stoplight/prism-cli/dist/index.js");
    return {
      command: [
        "node",
        program,
        "mock",
        "--multiprocess=false",
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
        document,
      ],
      cwd: folder,
      dialect: { ...ownDialect(store.animals), pets: "/pets" },
    };
  },
};

export function serviceDialect(animals: number): Dialect {
  return ownDialect(animals, (id) => encodeCursor(String(id), AVAILABLE));
}

/** That of the services on Fastify and Hono. */
export function frameworkDialect(animals: number): Dialect {
  return ownDialect(animals, (id) => Buffer.from(String(id)).toString("base64url"));
}

function ownDialect(animals: number, cursorAfter?: (id: number) => string): Dialect {
  const pageAfter = cursorAfter && ((id: number) => `${FIRST_PAGE}&cursor=${cursorAfter(id)}`);
  return { pets: "/v1/pets", animals, firstPage: FIRST_PAGE, pageAfter };
}

/** For a peer that works on its own copy of the store. */
function storeRecipe({ folder, store }: ServerSetup, port: number, command: readonly string[]): Recipe {
  const file = join(folder, "petstore.db");
  copyFileSync(store.file, file);
  return {
    command,
    cwd: PEERS,
    env: { PORT: String(port), STORE: file },
    dialect: frameworkDialect(store.animals),
  };
}

async function bareRecipe(setup: ServerSetup, port: number, command: readonly string[]): Promise<Recipe> {
  const responses = join(setup.folder, "responses.json");
  writeFileSync(responses, JSON.stringify(await responsesOf(setup)));
  return {
    command,
    cwd: PEERS,
    env: { PORT: String(port), RESPONSES: responses },
    dialect: ownDialect(setup.store.animals),
  };
}

/** For a peer on Bun that reads its own copy of the store with the service's statements, and gives the service's headers. */
async function sqliteRecipe(setup: ServerSetup, port: number, program: string): Promise<Recipe> {
  const file = join(setup.folder, "petstore.db");
  copyFileSync(setup.store.file, file);
  const { env, ...recipe } = await bareRecipe(setup, port, [process.execPath, program]);
  return {
    ...recipe,
    env: { ...env, STORE: file, STATEMENTS: JSON.stringify(petStatements) },
    dialect: ownDialect(setup.store.animals, String),
  };
}

function responsesOf({ model, store }: ServerSetup): Promise<RecordedResponses> {
  if (!model) throw new Error("A bare server needs a running service to take its answers from.");
  return responsesOfModel(model, store.keys[0] ?? "");
}

/** The service's answers to both kinds of reads and to a create. */
export function responsesOfModel(
  { url, dialect }: Pick<RunningServer, "url" | "dialect">,
  key: string,
): Promise<RecordedResponses> {
  const { pets, animals, firstPage } = dialect;
  const [{ body = "" } = {}] = creates(dialect, 1);
  const paths = { get: `${pets}/${Math.floor(animals / 2)}`, list: `${pets}?${firstPage}`, create: pets, body };
  return recordResponses(url, key, paths);
}

/** Resolves when a server gives an animal. `errors` is the file of its errors. */
export async function untilItResponds(
  { name, process, url, dialect }: { name: string; process: Subprocess; url: string; dialect: Dialect },
  key: string,
  errors: string,
): Promise<void> {
  const end = performance.now() + START_LIMIT;
  while (performance.now() < end && process.exitCode === null) {
    const response = await fetch(`${url}${dialect.pets}/1`, { headers: { Authorization: `Bearer ${key}` } }).catch(
      () => undefined,
    );
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
  console.log("Installing the peers' packages, which takes a minute or two …");
  const { exitCode } = Bun.spawnSync(["npm", "ci"], { cwd: PEERS, stdout: "ignore", stderr: "inherit" });
  if (exitCode !== 0) console.log("They could not be installed: peers that need them are left out.");
}
