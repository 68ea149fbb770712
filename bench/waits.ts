// One key of an enterprise account does its worst through 64 connections, one kind of request after the other. How long
// do a health check and another shop's getPet wait meanwhile? The time in which the processes waited for a CPU that
// others used does not count; how long the service itself worked meanwhile is shown apart, because on a busy machine other
// processes that it waits for are slow, too.
//
// `--service` measures another version side by side, such as one in a work tree.
//
//   npx bun bench/waits.ts [SECONDS OF EACH KIND] [--postgres] [--service FOLDER] [--only KIND]...     (default 5)
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { domains } from "../src/app/domains.ts";
import { cpuTimeOf, stopwatch } from "../test/harness/cpu-time.ts";
import { freePort } from "../test/harness/free-port.ts";
import { PostgresServer } from "../test/harness/postgres-server.ts";
import { eventually, newDataDir, Program } from "../test/harness/program.ts";
import { UNLIMITED } from "../test/harness/unlimited.ts";
import { bodyOf, pathOf } from "../test/harness/valid-call.ts";

const CONNECTIONS = 64;
/** How long a kind is sent before it is measured, in milliseconds: code is loaded and compiled at first. */
const WARM_UP = 2_000;
/** Milliseconds between two probes. */
const PAUSE = 5;
/** What others may wait: at the 99th percentile longer than alone, and ever, in milliseconds. */
const [MORE_AT_P99, EVER] = [20, 100];
/** Sales of the shop, each in a category of its own; and animals of an import that have as much metadata as they may. */
const [SALES, FAT] = [5_000, 15];

interface Call {
  readonly method: string;
  /** Below the address of the service. */
  readonly path: string;
  readonly body?: string | undefined;
}

const api = (method: string, path: string, body?: unknown): Call => {
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  return { method, path: `/v1${path}`, body: text };
};
const tool = (name: string, given: object): Call => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
  return { method: "POST", path: "/mcp", body: JSON.stringify(message) };
};
/** As much metadata as an animal may have, of a character. */
const fat = (character: string) => ({
  metadata: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key${index}`, character.repeat(480)])),
});
/** What makes the longest texts of JSON: older versions accept the first, this one the second. */
const [CONTROL, QUOTE] = ["\u0001", '"'];
const animals = (count: number, more: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => ({ name: `Animal ${index}`, ...more(index) }));
const currencies = ["EUR", "USD", "GBP", "CHF"];
const first99 = Array.from({ length: 99 }, (_, index) => index + 1).join(",");
const year = `since=${new Date(Date.now() - 365 * 86_400_000).toISOString()}`;
const operations = domains.flatMap((domain) => domain.operations).filter(({ response }) => !response.stream);

/** What the key sends, in turn. `n` is a number that no other request has. */
const kinds: Record<string, (n: number) => Call> = {
  "each operation": (n) => {
    const operation = operations[n % operations.length]!;
    return api(operation.method, pathOf(operation), bodyOf(operation));
  },
  "one animal": () => api("GET", "/pets/1"),
  // No two are the same, so that none is answered from the cache.
  "large pages": (n) => api("GET", `/pets?limit=100&ids=${first99},${100_000 + n}`),
  "small pages of large animals": (n) => api("GET", `/pets?limit=26&cursor=${cursors[n % cursors.length]}`),
  "pages of events": (n) => api("GET", `/events?limit=${100 - (n % 20)}`),
  "searches that find nothing": (n) => api("GET", `/pets?name=none${n}`),
  "sales of a year": () => api("GET", `/store/sales?${year}`),
  creates: () => api("POST", "/pets", { name: "Rex", categoryId: 1 }),
  imports: () => api("POST", "/pets/import", { animals: animals(500, () => ({ categoryId: 3 })) }),
  "large imports": () => largeImport(QUOTE),
  "faulty imports": () =>
    api("POST", "/pets/import", { animals: animals(500, () => ({ categoryId: 3, price: { amount: -1 } })) }),
  "tools: find_animals": (n) => tool("find_animals", { limit: 100 - (n % 20) }),
  "tools: list_events": (n) => tool("list_events", { limit: 100 - (n % 20), after: "0" }),
  "tools: show_sales": () => tool("show_sales", { since: year.slice(6) }),
  // All animals that were imported move from one category to another and back.
  moves: (n) => {
    const [from, to] = n % 4 < 2 ? [3, 4] : [4, 3];
    if (n % 2 === 0) return api("DELETE", `/categories/${from}?moveTo=${to}`);
    return api("POST", "/categories", { id: from, name: `Category ${from}` });
  },
  deletions: (n) =>
    api("POST", "/pets/delete", { ids: Array.from({ length: 500 }, (_, index) => 20_000 + 500 * n + index) }),
};
/** Those of the pages after each of the first animals, which are large. */
let cursors: string[] = [];
const largeImport = (character: string) =>
  api("POST", "/pets/import", { animals: animals(FAT, () => ({ categoryId: 3, ...fat(character) })) });

const ascending = (one: number, other: number) => one - other;
const p99 = (sorted: readonly number[]) => sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;

/** Sends calls of a kind through all connections until it is ended. Plain sockets, because a client costs more than the service. */
async function attack(port: string, key: string, kind: string): Promise<never> {
  let n = 0;
  cursors = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const path = `http://127.0.0.1:${port}/v1/pets?limit=${index + 1}`;
      const { headers } = await fetch(path, { headers: { Authorization: `Bearer ${key}` } });
      return /cursor=([^&>]+)/.exec(headers.get("link") ?? "")?.[1] ?? "";
    }),
  );
  const next = () => {
    const { method, path, body = "" } = kinds[kind]!(n++);
    const type = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${type}`;
    return `${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const open = () => {
    let response = "";
    let unsent: Uint8Array = new Uint8Array();
    const write = (socket: Bun.Socket, bytes: Uint8Array) => {
      unsent = bytes.subarray(socket.write(bytes));
    };
    void Bun.connect({
      hostname: "127.0.0.1",
      port: Number(port),
      socket: {
        open: (socket) => write(socket, Buffer.from(next())),
        drain: (socket) => write(socket, unsent),
        close: open,
        data: (socket, bytes) => {
          response += bytes.toString("latin1");
          const head = response.indexOf("\r\n\r\n");
          const length = /content-length: (\d+)/i.exec(response.slice(0, head))?.[1];
          const hasEnded =
            length === undefined ? response.endsWith("0\r\n\r\n") : response.length >= head + 4 + Number(length);
          if (head < 0 || (!hasEnded && !/^HTTP\/1.1 (?:204|304)/.test(response))) return;
          response = "";
          write(socket, Buffer.from(next()));
        },
      },
    });
  };
  for (let connection = 0; connection < CONNECTIONS; connection++) open();
  return new Promise(() => {});
}

if (process.argv[2] === "attack") await attack(...(process.argv.slice(3) as [string, string, string]));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    postgres: { type: "boolean" },
    service: { type: "string", default: join(import.meta.dir, "..") },
    only: { type: "string", multiple: true, default: Object.keys(kinds) },
  },
});
const seconds = Number(positionals[0] ?? 5);
const main = [process.execPath, join(resolve(values.service), "src/main.ts")];
const dataDir = newDataDir();
const postgres = values.postgres ? await PostgresServer.start() : undefined;
const port = freePort();
const settings = {
  PETSTORE_ENV: "production",
  PETSTORE_LOG_LEVEL: "warn", // a line for each request would make this process collect them
  PETSTORE_PORT: String(port),
  ...(postgres && {
    PETSTORE_DATABASE_URL: postgres.url(await postgres.newDatabase()),
  }),
};

const service = new Program(dataDir, settings, [...main, "serve", "--create"]);
service.base = `http://127.0.0.1:${port}/v1`;
try {
  await eventually(async () => (await fetch(new URL("/healthz", service.base)).catch(() => undefined))?.ok === true);
  await measure();
} finally {
  await service.end();
  await postgres?.remove();
  rmSync(dataDir, { recursive: true, force: true });
}

async function command(words: readonly string[]): Promise<{ id: string; key: string }> {
  const env = { ...process.env, PETSTORE_DATA_DIR: dataDir, ...settings };
  return Bun.$`${main} ${words} --json`.env(env).quiet().json();
}

async function newKey(): Promise<string> {
  const limits = ["--per-minute", `${UNLIMITED}`, "--per-day", `${UNLIMITED}`];
  const { id } = await command(["accounts", "create", "--name", "Shop", "--plan", "enterprise", ...limits]);
  return (await command(["keys", "create", "--account", id, "--scopes", "read,write,admin"])).key;
}

async function send(key: string, { method, path, body }: Call): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(new URL(path, service.base), { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return text;
}

async function measure(): Promise<void> {
  const [busy, other] = [await newKey(), await newKey()];
  await send(other, kinds["creates"]!(0));
  for (const id of [3, 4]) await send(busy, api("POST", "/categories", { id, name: `Category ${id}` }));
  for (let part = 0; part < 14; part++)
    await send(busy, largeImport(CONTROL)).catch(() => send(busy, largeImport(QUOTE)));
  for (let sold = 0; sold < SALES; sold += 500) {
    const added = await send(
      busy,
      api("POST", "/pets/import", {
        animals: animals(500, (index) => ({ categoryId: 10 + sold + index, status: "available" })),
      }),
    );
    const ids = [...added.matchAll(/"id":(\d+)/g)].map(([, id]) => id);
    await Promise.all(
      ids.map((id, index) => {
        const price = { amount: 100, currency: currencies[index % 4] };
        const order = { petId: Number(id), confirm: true, price };
        const seller = `Seller ${id}`; // older versions know none
        const sell = (more: object) => send(busy, api("POST", "/store/orders", { ...order, ...more }));
        return sell({ seller }).catch(() => sell({}));
      }),
    );
  }
  const alone = await probe(other);
  print("alone", alone);
  for (const kind of values.only) {
    const child = Bun.spawn([process.execPath, import.meta.path, "attack", `${port}`, busy, kind]);
    await Bun.sleep(WARM_UP);
    const [from, used] = [performance.now(), cpuTimeOf(service.child.pid)];
    const waits = await probe(other);
    const load = (100 * (cpuTimeOf(service.child.pid) - used)) / (performance.now() - from);
    child.kill("SIGKILL");
    await child.exited;
    print(`${kind} (${load.toFixed()} % of a core)`, waits, alone);
    await Bun.sleep(1_000); // what is left in progress ends
  }
}

/** Of health checks and of reads of one animal: sorted milliseconds that they waited, and that the service worked. */
interface Waits {
  readonly waited: number[];
  readonly worked: number[];
}

async function probe(key: string): Promise<Waits[]> {
  const calls = [
    () => fetch(new URL("/healthz", service.base)),
    () => fetch(`${service.base}/pets/1`, { headers: { Authorization: `Bearer ${key}` } }),
  ];
  const waits = calls.map(() => ({ waited: [] as number[], worked: [] as number[] }));
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    for (const [index, call] of calls.entries()) {
      const [elapsed, used] = [stopwatch(service.child.pid), cpuTimeOf(service.child.pid)];
      const response = await call();
      await response.arrayBuffer();
      waits[index]!.waited.push(response.ok ? elapsed() : Number.POSITIVE_INFINITY);
      waits[index]!.worked.push(cpuTimeOf(service.child.pid) - used);
    }
    await Bun.sleep(PAUSE);
  }
  return waits.map(({ waited, worked }) => ({
    waited: waited.toSorted(ascending),
    worked: worked.toSorted(ascending),
  }));
}

function print(kind: string, waits: readonly Waits[], alone?: readonly Waits[]): void {
  const figures = waits.map(({ waited, worked }, index) => {
    const most = waited.at(-1) ?? Number.NaN;
    const isKept = !alone || (p99(waited) - p99(alone[index]!.waited) <= MORE_AT_P99 && most <= EVER);
    const work = `${p99(worked).toFixed(1)} and ${(worked.at(-1) ?? Number.NaN).toFixed(1)} of work`;
    return `${p99(waited).toFixed(1)} ms at p99, ${most.toFixed(1)} at most of ${waited.length} (${work})${isKept ? "" : " TOO LONG"}`;
  });
  console.log(`${kind}: health ${figures[0]}; another shop ${figures[1]}`);
}
