// The one-file executable, built as the documentation says, where nothing else of the project is.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canMount } from "../faults/faulty-disk.ts";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { metricsText, untilMetric } from "../harness/metrics.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { keyIn, newDataDir, Program, serveSource } from "../harness/program.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";
import { buildExecutable, inFolder, onReadOnlyRoot, startFrom } from "./executable.ts";

let built: string;
beforeAll(async () => {
  built = await buildExecutable();
});
afterAll(() => rmSync(built, { recursive: true }));

/** A new folder that holds the executable alone. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-executable-"));
  copyFileSync(join(built, "petstore"), join(folder, "petstore"));
  return folder;
}

test("it does not contain the path of the sources", () => {
  const sources = join(import.meta.dir, "../../src/");
  expect(readFileSync(join(built, "petstore")).includes(sources)).toBe(false);
});

const command = (folder: string, ...words: string[]) => run(inFolder(folder, ...words));

async function run(words: string[]) {
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { status: await child.exited, stdout, stderr };
}

describe("in an empty folder", () => {
  let folder: string;
  let service: Program;
  let key: string;

  beforeAll(async () => {
    folder = newFolder();
    service = await startFrom(folder, inFolder(folder, "serve"));
    key = keyIn(service.output);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ask = (path: string, init: RequestInit = {}, more: Record<string, string> = {}) =>
    fetch(`${service.base}${path}`, { ...init, headers: { Authorization: `Bearer ${key}`, ...more } });

  test("the first start makes a key and sample animals, in ./data", async () => {
    expect(await (await ask("/pets?limit=100")).json()).toHaveLength(24);
    expect(readdirSync(folder).toSorted()).toEqual(["data", "petstore"]);
  });

  test("an animal that was added is found", async () => {
    const headers = { "Content-Type": "application/json" };
    const added = await ask("/pets", { method: "POST", body: '{"name":"Ida","categoryId":1}' }, headers);
    expect(added.status).toBe(201);
    const { id } = (await added.json()) as { id: number };
    expect(await (await ask(`/pets?ids=${id}`)).json()).toEqual([{ id, name: "Ida", categoryId: 1 }]);
  });

  test("the document is served as JSON and YAML", async () => {
    for (const form of ["json", "yaml"]) {
      expect(await (await fetch(new URL(`/openapi.${form}`, service.base))).text()).toContain("listPets");
    }
  });

  test("the tools for assistants are part of it", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const answer = await ask("/../mcp", { method: "POST", body: JSON.stringify(message) }, headers);
    expect(await answer.text()).toContain("find_animals");
  });

  test("the console is part of it", async () => {
    const page = await (await fetch(new URL("/console", service.base))).text();
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    expect(files).toHaveLength(3);
    for (const path of files) expect([path, (await fetch(new URL(path, service.base))).status]).toEqual([path, 200]);
  });

  test("the client's package has the same bytes as from the sources, in another process and time zone", async () => {
    const sources = await Program.start(newDataDir(), { TZ: "Asia/Tokyo" }, serveSource);
    const [own, other] = await Promise.all(
      [service, sources].map(async ({ base }) => (await fetch(new URL("/client.tgz", base))).bytes()),
    );
    expect(await sources.end()).toBe(0);
    expect(Bun.SHA256.hash(own as Uint8Array, "hex")).toBe(Bun.SHA256.hash(other as Uint8Array, "hex"));
  });

  test.skipIf(!hasBrowser)("the reference page shows the operations, without an error", async () => {
    const browser = await TestBrowser.start();
    const page = await browser.open(new URL("/docs", service.base).href);
    await page.getByText("List all animals").first().waitFor();
    expect(browser.errors).toEqual([]);
    await browser.stop();
  });

  test("the first start prints a command that makes another key", async () => {
    const line = /^ *(\S.* keys create .*)$/m.exec(service.output)?.[1] ?? "";
    const { stdout } = await run(["env", "-C", folder, "sh", "-c", line]);
    const another = keyIn(stdout);
    expect((await ask("/pets", {}, { Authorization: `Bearer ${another}` })).status).toBe(200);
  });

  test("the help names the executable, not npm: by its path, or by its name if that starts it", async () => {
    const { stdout } = await command(folder, "--help");
    expect(stdout).toContain(`Usage: ${join(folder, "petstore")} COMMAND`);
    expect(stdout).not.toContain("npm");
    const installed = await run([
      "env",
      `PATH=${folder}:${process.env["PATH"]}`,
      "petstore",
      "keys",
      "create",
      "--help",
    ]);
    expect(installed.stdout).toContain("Usage: petstore keys create");
  });

  test("it knows its version", async () => {
    const { version } = (await Bun.file(join(import.meta.dir, "../../package.json")).json()) as { version: string };
    expect((await command(folder, "--version")).stdout).toBe(`petstore ${version}\n`);
    expect(await metricsText(service.base)).toContain(`petstore_build_info{version="${version}",`);
  });

  test("commands work alongside the service", async () => {
    const { stdout } = await command(folder, "accounts", "create", "--name", "Till", "--plan", "pro", "--json");
    const { id } = JSON.parse(stdout) as { id: string };
    const made = await command(folder, "keys", "create", "--account", id, "--json");
    const own = (JSON.parse(made.stdout) as { key: string }).key;
    const { status } = await fetch(`${service.base}/pets`, { headers: { Authorization: `Bearer ${own}` } });
    expect(status).toBe(200);
    expect((await command(folder, "backups", "take", "--file", "copy.db")).status).toBe(0);
    const accounts = JSON.parse((await command(folder, "accounts", "list", "--json")).stdout) as { id: string }[];
    const first = accounts.find((account) => account.id !== id)?.id as string;
    const exported = await command(folder, "export", "animals.csv", "--account", first);
    expect(exported.stdout).toStartWith("Wrote 25 animals");
    expect((await command(folder, "keys", "lst")).stderr).toContain("Did you mean keys list?");
  });

  test("`health` tells whether the service is ready, and SIGTERM ends it with status 0", async () => {
    const health = () => run(["env", `PETSTORE_PORT=${service.port}`, ...inFolder(folder, "health")]);
    expect(await health()).toEqual({ status: 0, stdout: "ready\n", stderr: "" });
    expect(await service.end()).toBe(0);
    expect(await health()).toEqual({ status: 1, stdout: "", stderr: `no answer at 127.0.0.1, port ${service.port}\n` });
  });
});

test("a file of settings that lies in the folder is not read", async () => {
  const folder = newFolder();
  await Bun.write(join(folder, ".env"), "PETSTORE_NOSUCH=1\n");
  await Bun.write(join(folder, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
  expect((await command(folder, "openapi")).status).toBe(0);
  rmSync(folder, { recursive: true });
});

test.skipIf(postgresMissing !== undefined || !hasValkey)("it holds the drivers of PostgreSQL and Valkey", async () => {
  const folder = newFolder();
  const [server, valkey] = await Promise.all([PostgresServer.start(), ValkeyServer.start()]);
  const settings = { PETSTORE_DATABASE_URL: server.url(), PETSTORE_VALKEY_URL: valkey.url };
  const service = await startFrom(folder, inFolder(folder, "serve"), settings);
  // Where the machine is busy, the server may be too slow at first.
  await untilMetric(service.base, "petstore_limiter_degraded", 0);
  expect(await service.end()).toBe(0);
  await Promise.all([server.remove(), valkey.stop()]);
  rmSync(folder, { recursive: true });
});

test.skipIf(!canMount)("it writes nowhere but into its data folder", async () => {
  const folder = newFolder();
  const service = await startFrom(folder, onReadOnlyRoot(folder, "serve"));
  const key = keyIn(service.output);
  const added = await fetch(`${service.base}/pets`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: '{"name":"Ida","categoryId":1}',
  });
  expect(added.status).toBe(201);
  expect((await fetch(new URL("/readyz", service.base))).status).toBe(200);
  expect((await fetch(new URL("/docs", service.base))).status).toBe(200);
  expect(await service.end()).toBe(0);
  rmSync(folder, { recursive: true });
});
