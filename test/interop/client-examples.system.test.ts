// The examples of the client, in a project that has installed it from the service.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shownSecret, signedHeaders, signingKeys } from "../../src/domains/webhooks/secrets/signatures.ts";
import { hasInteropTools, interopFolder, runtimes } from "../harness/interop-tools.ts";
import { TestService } from "../harness/service.ts";

const isInstalled = hasInteropTools();
const root = join(import.meta.dir, "../..");

let service: TestService;
let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), "petstore-examples-"));
  environment = { PETSTORE_KEY: await service.newKey(), PETSTORE_URL: service.app.base };
  cpSync(join(root, "client/examples"), folder, { recursive: true });
  const installed = join(folder, "node_modules/petstore-client");
  mkdirSync(installed, { recursive: true });
  const archive = await (await fetch(new URL("/client.tgz", service.app.base))).bytes();
  for (const [path, file] of await new Bun.Archive(archive).files()) {
    await Bun.write(join(installed, path.replace(/^package\//, "")), file);
  }
  if (isInstalled) symlinkSync(join(interopFolder, "node_modules/express"), join(folder, "node_modules/express"));
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a program in the project. */
function start(command: string[], more: Record<string, string> = {}) {
  return Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, ...environment, ...more },
    stdout: "pipe",
    stderr: "inherit",
  });
}

/** What a program has written once it has written something that matches. */
async function until(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<RegExpMatchArray> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    const match = pattern.exec(text);
    if (match) return match;
  }
  throw new Error(`The program ended: ${text}`);
}

test("the script sells an animal", async () => {
  const output = await new Response(start(["node", "script.mjs"]).stdout).text();
  expect(output).toBe("Order 1 for Rex is confirmed.\n");
  const [order] = (await service.call("GET", "/store/orders", { key: environment["PETSTORE_KEY"] })).json;
  expect([order.status, order.reference]).toEqual(["confirmed", "example"]);
});

test.skipIf(!isInstalled)(
  "the receiver takes what is signed, answers with exact ids, and refuses the rest",
  async () => {
    const keys = signingKeys(new Uint8Array(32).fill(7), new Uint8Array(32).fill(8));
    const receiver = start(["node", "webhook-receiver.mjs"], { PETSTORE_WEBHOOK_SECRET: shownSecret(keys), PORT: "0" });
    try {
      const [, port] = await until(receiver.stdout, /Listening on port (\d+)\n/);
      const body =
        '{"id":"msg_1","type":"pet.updated","data":{"id":3,"subject":{"type":"pet","id":9223372036854775807}}}';
      const deliver = (text: string) =>
        fetch(`http://127.0.0.1:${port}/webhooks`, {
          method: "POST",
          headers: { "Content-Type": "application/json", ...signedHeaders("msg_1", body, Date.now(), [keys]) },
          body: text,
        });
      const taken = await deliver(body);
      expect([taken.status, await taken.text()]).toEqual([200, '{"seen":{"type":"pet","id":9223372036854775807}}']);
      const refused = await deliver(body.replace("3", "4"));
      expect([refused.status, await refused.text()]).toEqual([400, "No signature matches."]);
    } finally {
      receiver.kill();
      await receiver.exited;
    }
  },
);

const config = (baseUrl: string, key: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "shop", worker = (
      modules = [
        (name = "worker", esModule = embed "worker.mjs"),
        (name = "petstore-client", esModule = embed "node_modules/petstore-client/dist/index.js"),
      ],
      bindings = [(name = "PETSTORE_URL", text = "${baseUrl}"), (name = "PETSTORE_KEY", text = "${key}")],
      compatibilityDate = "2026-01-01",
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);
`;

test.skipIf(!existsSync(runtimes.workerd))("the worker shows which animals are available", async () => {
  const { PETSTORE_KEY: key = "", PETSTORE_URL: baseUrl = "" } = environment;
  const pet = await service.call("POST", "/pets", { key, body: { name: "Ida", categoryId: 2, status: "available" } });
  writeFileSync(join(folder, "config.capnp"), config(baseUrl, key));
  const worker = start([runtimes.workerd, "serve", "--control-fd=1", "config.capnp"]);
  try {
    const [, port] = await until(worker.stdout, /"port":(\d+)/);
    const read = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.text()];
    };
    expect(await read("/")).toEqual([200, `[${JSON.stringify(pet.json)}]`]);
    expect(await read(`/${pet.json.id}`)).toEqual([200, JSON.stringify(pet.json)]);
    for (const path of ["/9223372036854775807", "/9223372036854775808", "/99999999999999999999", "/favicon.ico"])
      expect(await read(path)).toEqual([404, '{"message":"No such animal."}']);
    // An import can keep an id of 19 digits.
    await service.store.run(`UPDATE pets SET id = 4611686018427387904 WHERE id = ${pet.json.id}`);
    expect(await read("/4611686018427387904")).toEqual([200, expect.stringContaining('"id":4611686018427387904,')]);
  } finally {
    worker.kill();
    await worker.exited;
  }
});
