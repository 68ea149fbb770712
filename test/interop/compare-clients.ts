// Compares the client with those that other tools generate from the document, and writes client/comparison-results.md:
//
//   npx bun test/interop/compare-clients.ts
//
// A line of the table is what a program saw: it calls the real service through a proxy that spoils exchanges.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Petstore } from "../../client/src/index.ts";
import { clientModule } from "../../src/app/web/client-package.ts";
import { freePort } from "../harness/free-port.ts";
import { hasInteropTools } from "../harness/interop-tools.ts";
import { environment, newKey } from "../harness/keys.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { UNLIMITED, unlimitedQuota } from "../harness/unlimited.ts";
import type { ClientUnderTest, Connect } from "./clients/exact-json.ts";
import { FaultyProxy } from "./faulty-proxy.ts";
import { generateClients } from "./generated-folder.ts";

const CALLS = 10_000;
const CONCURRENT = 16;
/** Rounds of the calls for each client, of which the fastest counts. */
const ROUNDS = 3;
const LARGEST = 2n ** 63n - 1n;
/** How long a call may take to show that it succeeds after a fault, in milliseconds. */
const PATIENCE = 10_000;
/** How long a client is watched that waits, in milliseconds. */
const WATCHED = 3_000;
const FEW = 10;

const root = join(import.meta.dir, "../..");
const page = join(root, "client/comparison-results.md");

const ours: Connect = (baseUrl, key) => {
  // A call that could not wait for the next minute would be sent at once, and the service would decide.
  const petstore = new Petstore({ key, baseUrl, timeout: 120_000 });
  const list = async (limit: number) => petstore.listPets({ limit }).page();
  return {
    list,
    listPlainly: list,
    create: (name, categoryId) => petstore.createPet({ name, categoryId }),
    read: (id) => petstore.getPet(id),
    all: (limit) => petstore.listPets({ limit }),
    async *follow(signal) {
      for await (const { id } of petstore.streamEvents({ after: 0n }, { signal })) yield id;
    },
  };
};

interface Contestant {
  readonly name: string;
  readonly connect: Connect;
  /** The module of all operations, or its text. */
  readonly module: { readonly file: string } | { readonly text: string };
}

interface Scene {
  readonly connect: () => ClientUnderTest;
  readonly connectLimited: () => Promise<ClientUnderTest>;
  readonly proxy: FaultyProxy;
}

type Probe = (scene: Scene) => Promise<boolean>;

/** True if the call succeeds in time. */
async function succeeds(call: Promise<unknown>): Promise<boolean> {
  const done = call.then(
    () => true,
    () => false,
  );
  return Promise.race([done, Bun.sleep(PATIENCE).then(() => false)]);
}

/** What is looked for, in the order of the table. */
const probes: Readonly<Record<string, Probe>> = {
  async "64-bit integers are exact without settings"({ connect }) {
    const listed = await connect()
      .listPlainly(1)
      .catch(() => []);
    return listed[0]?.categoryId === LARGEST;
  },
  async "one loop reads all pages"({ connect }) {
    const client = connect();
    if (!client.all) return false;
    const names: string[] = [];
    for await (const { name } of client.all(1)) names.push(name);
    return names.join() === (await client.list(100)).map(({ name }) => name).join();
  },
  async "a read is repeated after a lost connection"({ connect, proxy }) {
    proxy.begin("cut before", "cut after");
    return succeeds(connect().list(1));
  },
  async "a write is repeated, and done once"({ connect, proxy }) {
    const client = connect();
    const before = (await client.list(100)).length;
    const sight = proxy.begin("cut after");
    const isDone = await succeeds(client.create("Once", 1n));
    const keys = new Set(sight.requests.map(({ idempotencyKey }) => idempotencyKey));
    return isDone && keys.size === 1 && !keys.has(undefined) && (await client.list(100)).length === before + 1;
  },
  async "a call waits as long as `Retry-After` says"({ connect, proxy }) {
    proxy.begin("429");
    const started = performance.now();
    return (await succeeds(connect().list(1))) && performance.now() - started >= 1_000;
  },
  async "calls wait before the limit is exceeded"({ connectLimited, proxy }) {
    const client = await connectLimited();
    await client.list(1); // which tells the limit
    const sight = proxy.begin();
    for (let call = 0; call < 2 * FEW; call++) client.list(1).catch(() => {}); // some are still waiting at the end
    await Bun.sleep(WATCHED);
    return sight.limited === 0 && sight.requests.length > 0;
  },
  async "a deprecated operation is announced"({ connect }) {
    const { warn } = console;
    let said = 0;
    console.warn = () => void said++;
    await connect().read(1n);
    console.warn = warn;
    return said > 0;
  },
  async "events continue after a lost connection"({ connect, proxy }) {
    const client = connect();
    if (!client.follow) return false;
    const events: bigint[] = [];
    proxy.begin("cut within");
    const ended = new AbortController();
    const read = async () => {
      for await (const id of client.follow?.(ended.signal) ?? []) if (events.push(id) === 3) return;
    };
    const isDone = await succeeds(read());
    ended.abort();
    return isDone && events.join() === "1,2,3";
  },
};

/** Bytes in brotli of all operations, as a browser would load them. */
async function sizeOf({ module }: Contestant): Promise<number> {
  if ("text" in module) return brotliCompressSync(module.text).length;
  const { outputs } = await Bun.build({ entrypoints: [module.file], minify: true, target: "browser" });
  return brotliCompressSync(await (outputs[0] as Blob).text()).length;
}

/** Microseconds of CPU time for many reads, several at a time. */
async function costOf(client: ClientUnderTest): Promise<number> {
  const before = process.cpuUsage();
  let left = CALLS;
  const connection = async () => {
    while (left-- > 0) await client.list(1);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, connection));
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

if (!hasInteropTools()) throw new Error("The packages of test/interop cannot be installed.");
const port = freePort();
const base = `http://127.0.0.1:${port}/v1`;
const dataDir = newDataDir();
const settings = { ...environment, PETSTORE_PORT: String(port) };
let service = await Program.start(dataDir, settings);
process.on("exit", () => service.child.kill()); // also when something fails
const key = await newKey(dataDir, unlimitedQuota);
const few = () => newKey(dataDir, { perMinute: FEW, perDay: UNLIMITED });
const folder = await generateClients(await (await fetch(new URL("/openapi.json", base))).text());
const generated = async (name: string, module: string, file: string): Promise<Contestant> => {
  const { connect } = (await import(join(folder, `clients/${module}.ts`))) as { connect: Connect };
  const entry = join(folder, `clients/${module}-all.ts`);
  writeFileSync(entry, `export * from "${file}"; export * as client from "${file}";`);
  return { name, connect, module: { file: entry } };
};
const contestants: readonly Contestant[] = [
  { name: "petstore-client", connect: ours, module: { text: await clientModule(true) } },
  await generated("openapi-fetch", "openapi-typescript", "openapi-fetch"),
  await generated("@hey-api/openapi-ts", "hey-api", "../generated/hey/index"),
  await generated("orval", "orval", "../generated/orval/client"),
];

const first = ours(base, key);
for (const categoryId of [LARGEST, 1n, 2n]) await first.create("Rex", categoryId);
const costs = contestants.map(() => Number.POSITIVE_INFINITY);
for (let round = 0; round < ROUNDS; round++) {
  for (const [index, { connect }] of contestants.entries()) {
    costs[index] = Math.min(costs[index] as number, await costOf(connect(base, key)));
  }
}
await service.end();

// The clients call the same address. Now it is the proxy's.
const target = freePort();
service = await Program.start(dataDir, { ...settings, PETSTORE_PORT: String(target) });
const proxy = await FaultyProxy.start(port, target);
const rows: string[][] = [];
for (const [what, probe] of Object.entries(probes)) {
  const found: string[] = [];
  for (const { connect } of contestants) {
    proxy.begin();
    const limited = async () => connect(base, await few());
    found.push((await probe({ connect: () => connect(base, key), connectLimited: limited, proxy })) ? "yes" : "no");
  }
  rows.push([what, ...found]);
  console.log(what, found.join(" "));
}
const sizes = await Promise.all(contestants.map(sizeOf));
rows.push(["bytes in brotli, with all operations", ...sizes.map((size) => size.toLocaleString("en"))]);
const microseconds = costs.map((cost) => Math.round(cost / CALLS));
rows.push([`µs of CPU time for one read (mean of ${CALLS.toLocaleString("en")} reads)`, ...microseconds.map(String)]);
proxy.stop();
await service.end();
rmSync(folder, { recursive: true });

const heads = ["", ...contestants.map(({ name }) => name)];
const table = [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const { version } = JSON.parse(readFileSync(join(root, "client/package.json"), "utf8")) as { version: string };
writeFileSync(
  page,
  `# Comparison

petstore-client ${version} and the clients that other tools generate from the same document. \`npx bun test/interop/compare-clients.ts\` writes this page: it calls the real service through a proxy that cuts connections and answers 429. The other clients have the settings of [docs/interop.md](../docs/interop.md); \`test/interop/clients/\` has the programs. openapi-fetch has no code for single operations, only types. The CPU time is the client's own, with 16 reads at a time.

${table}
`,
);
process.exit(0); // calls that still wait for a limit would keep it running
