// The client's suite on platforms that tools of npm and the machine's browser provide. Bun and the machine's Node run it
// in client/test/.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failuresOf, suiteProgram } from "../../client/test/suite-program.ts";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { hasInteropTools, interopFolder, runtimes } from "../harness/interop-tools.ts";
import { TestService } from "../harness/service.ts";

hasInteropTools();
const { node, deno, workerd } = runtimes;

let service: TestService;
let folder: string;
let context: { key: string; baseUrl: string };
beforeAll(async () => {
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), "petstore-platforms-"));
  context = { key: await service.newKey(), baseUrl: service.app.base };
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What a command writes. */
async function run(command: string[], environment: Record<string, string> = {}): Promise<string> {
  const env = { ...process.env, ...environment };
  const child = Bun.spawn(command, { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${out}${error}`);
  return out;
}

async function writeProgram(name: string, kind: "script" | "worker"): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, await suiteProgram(context, kind));
  return path;
}

test.skipIf(!existsSync(node))("the newest Node passes the suite", async () => {
  expect(await run([node, "--version"])).toStartWith("v26.");
  expect(failuresOf(await run([node, await writeProgram("suite.mjs", "script")]))).toEqual([]);
});

test.skipIf(!existsSync(node))("Node passes the suite with the fetch of undici and of node-fetch", async () => {
  const [undici, nodeFetch] = ["undici", "node-fetch"].map((name) => join(interopFolder, "node_modules", name));
  const imports = `import { fetch as ofUndici } from "${undici}/index.js";\nimport ofNodeFetch from "${nodeFetch}/src/index.js";\n`;
  for (const name of ["ofUndici", "ofNodeFetch"]) {
    const program = `${imports}globalThis.fetch = ${name};\n${await suiteProgram(context)}`;
    writeFileSync(join(folder, "fetch.mjs"), program);
    expect([name, failuresOf(await run([node, "fetch.mjs"]))]).toEqual([name, []]);
  }
});

test.skipIf(!existsSync(deno))("Deno passes the suite with permission to reach the service only", async () => {
  const program = await writeProgram("suite.mjs", "script");
  const net = `--allow-net=${new URL(context.baseUrl).host}`;
  const output = await run([deno, "run", "--no-prompt", "--no-remote", net, program], {
    DENO_DIR: folder,
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  });
  expect(failuresOf(output)).toEqual([]);
});

test.skipIf(!existsSync(workerd))("workerd passes the suite", async () => {
  await writeProgram("suite.mjs", "worker");
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "suite", worker = (
      modules = [(name = "suite", esModule = embed "suite.mjs")],
      compatibilityDate = "2026-01-01",
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
);
`;
  writeFileSync(join(folder, "config.capnp"), config);
  expect(failuresOf(await run([workerd, "test", "config.capnp"]))).toEqual([]);
});

test.skipIf(!hasBrowser)("Chromium passes the suite, from another host", async () => {
  const program = await suiteProgram(context);
  const page = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response("<!doctype html><title>Suite</title><script type=module src=/suite.js></script>", {
        headers: { "Content-Type": "text/html" },
      }),
      "/suite.js": new Response(program, { headers: { "Content-Type": "text/javascript" } }),
    },
  });
  const browser = await TestBrowser.start();
  try {
    const tab = await browser.open("about:blank");
    const lines: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    tab.on("console", (message) => {
      if (message.type() === "log") lines.push(message.text());
      if (lines.at(-1) === "done") resolve();
    });
    await tab.goto(page.url.href);
    await promise;
    expect(failuresOf(lines.join("\n"))).toEqual([]);
  } finally {
    await browser.stop();
    await page.stop(true);
  }
});
