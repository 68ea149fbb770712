// The service is started in surroundings that are not the usual ones. It works there, or says in one line what is wrong.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import lock from "../../package-lock.json" with { type: "json" };
import { pathNotFound } from "../../src/contract/errors.ts";
import { canMount, onSmallDisk } from "../faults/faulty-disk.ts";
import { FreshCopy } from "../harness/fresh-copy.ts";
import { eventually, keyIn, newDataDir, Program, programCommand, serveCommand } from "../harness/program.ts";
import { unfinishedRequest } from "../harness/stopping.ts";
import { anyExecutable } from "./executable.ts";
import { root } from "./files.ts";

const start = "npm start";

describe("a copy of the project", () => {
  let copy: FreshCopy;
  afterEach(() => copy.stop());
  const get = (path: string) => fetch(`http://127.0.0.1:${copy.port}${path}`);

  test("without development packages serves all but what is built with them, which says so", async () => {
    const packages = Object.entries(lock.packages as Record<string, { dev?: boolean; link?: boolean }>)
      .filter(
        ([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link && existsSync(join(root, path)),
      )
      .map(([path]) => path.replace("node_modules/", ""));
    copy = await FreshCopy.make({ packages });
    await copy.start(start);
    for (const path of ["/docs", "/console", "/console/pets", "/client.tgz"]) {
      const response = await get(path);
      const { code, status } = pathNotFound;
      const message = expect.stringContaining("Run npm ci without --omit=dev");
      expect([path, response.status, await response.json()]).toEqual([path, status, { code, status, message }]);
    }
    for (const path of ["/openapi.json", "/openapi.yaml", "/llms.txt", "/client.js", "/readyz"])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect(copy.output).not.toContain('"level":"error"');
    const build = await copy.shell("npm run --silent build");
    expect(build).toEqual({ status: 1, stdout: "", stderr: "A build needs all packages. Run: npm ci\n" });
  });

  test("in a folder with special characters in its name serves all", async () => {
    copy = await FreshCopy.make({ name: `the keeper's "old" shop #1 100%20` });
    await copy.start(start);
    for (const path of ["/docs", "/console", "/openapi.json", "/client.tgz", "/client.js"])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    const [, bundle = ""] = /src="([^"]*reference-[^"]*)"/.exec(await (await get("/docs")).text()) ?? [];
    expect((await get(bundle)).status).toBe(200);
  });

  test("in a folder with a question mark in its name says that Bun cannot use it", async () => {
    copy = await FreshCopy.make({ name: "what?" });
    const { status, stderr } = await copy.shell("npm run --silent petstore -- --version");
    const found = "Bun finds no files in a folder with a question mark in its name";
    expect([status, stderr]).toEqual([1, `${found}: ${join(copy.folder, "scripts")}\n`]);
  });
});

describe("in the folder of another program", () => {
  /** Code that says that it ran, and what makes Bun run it or reads settings, if Bun obeys the files of the folder. */
  const foreign = {
    ".env": "PETSTORE_LOG_LEVEL=loud\n", // refused by who reads it
    "bunfig.toml": 'preload = ["./foreign.ts"]\n',
    "tsconfig.json": '{"compilerOptions":{"paths":{"*":["./foreign.ts"]}}}',
    "foreign.ts": 'console.error("foreign code ran");\n',
  };
  const fromSources = ["node", join(root, "scripts/petstore.mjs")];

  test.each([
    ["the sources", () => fromSources],
    ["the executable", async () => [await anyExecutable()]],
  ] as const)("a command and the service of %s obey no file", async (_, command) => {
    const folder = newDataDir();
    for (const [name, text] of Object.entries(foreign)) await Bun.write(join(folder, name), text);
    const words = ["env", "-C", folder, ...(await command())];
    const said = Bun.spawnSync([...words, "--version"]);
    expect([said.exitCode, said.stderr.toString()]).toEqual([0, ""]);
    // A backup runs as another process of the program.
    const settings = { PETSTORE_BACKUP_EVERY: "1d", PETSTORE_BACKUP_DIR: join(folder, "backups") };
    const program = await Program.start(join(folder, "data"), settings, [...words, "serve"]);
    await program.until(() => program.output.includes('"event":"backup_taken"'));
    expect([await program.end(), program.errors]).toEqual([0, ""]);
  });
});

describe("the service", () => {
  test("sends traces to this machine directly, although the environment names a proxy", async () => {
    const received = { direct: 0, proxied: 0 };
    const count = (as: keyof typeof received) =>
      Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ [as]: ++received[as] }) });
    const [receiver, proxy] = [count("direct"), count("proxied")];
    const program = await Program.start(newDataDir(), {
      HTTP_PROXY: proxy.url.href,
      http_proxy: proxy.url.href,
      NO_PROXY: "",
      no_proxy: "",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.href,
    });
    await fetch(`http://127.0.0.1:${program.port}/v1/pets`);
    await eventually(() => received.direct + received.proxied > 0);
    expect(received.proxied).toBe(0);
    expect(await program.end()).toBe(0);
    await Promise.all([receiver, proxy].map((server) => server.stop(true)));
  });

  test("stops after SIGHUP as after SIGTERM: the request in progress is done", async () => {
    const program = await Program.start(newDataDir());
    const unfinished = await unfinishedRequest(program, keyIn(program.output));
    program.child.kill("SIGHUP");
    await program.until(() => program.output.includes('"event":"stopping"'));
    expect(await unfinished.finish()).toContain("HTTP/1.1 201");
    expect([await program.child.exited, program.errors]).toEqual([0, ""]);
  });

  const full = ['dd if=/dev/zero of="$0/fill" bs=4k 2>/dev/null', 0, "is full"] as const;
  const files = 'n=0; while touch "$0/fill$n" 2>/dev/null; do n=$((n + 1)); done';
  const noInode = [files, 20, "has no inode left, which a new file needs"] as const;
  test.skipIf(!canMount).each([
    ["stopped in good order", ...full],
    ["new", ...full],
    ["stopped in good order", ...noInode],
    ["new", ...noInode],
  ])("names a full disk, if the store is %s", async (state, filling, inodes, fault) => {
    const dataDir = newDataDir();
    if (state !== "new") expect(await (await Program.start(dataDir)).end()).toBe(0);
    const fill = ["sh", "-c", `${filling}; exec "$@"`, dataDir];
    const program = new Program(dataDir, {}, onSmallDisk(dataDir, 4_000_000, [...fill, ...serveCommand], inodes));
    expect(await program.child.exited).toBe(1);
    const reason = `the disk of ${dataDir} ${fault}. Delete other files there, then start again.`;
    expect(program.errors).toBe(`The store at ${join(dataDir, "petstore.db")} cannot be opened: ${reason}\n`);
  });

  test.skipIf(!canMount)("on `::` where IPv6 is off is found by `health`", () => {
    const off = "ip link set lo up && echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6";
    const tries = 'for _ in $(seq 200); do "$@" health 2>/dev/null && break; sleep 0.1; done';
    const script = `${off}; "$@" serve >/dev/null & ${tries}; kill $! && wait $!`;
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      ["unshare", "-rn", "sh", "-c", script, "sh", ...programCommand],
      {
        env: { ...process.env, PETSTORE_HOST: "::", PETSTORE_PORT: "8080", PETSTORE_DATA_DIR: newDataDir() },
      },
    );
    expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, "ready\n", ""]);
  });

  test("with all file descriptors in use answers again when connections end", async () => {
    const few = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"];
    const program = await Program.start(newDataDir(), {}, [...few, ...serveCommand]);
    const sockets = await Promise.all(
      Array.from({ length: 60 }, () =>
        Bun.connect({ hostname: "127.0.0.1", port: program.port, socket: { data: () => {}, error: () => {} } }),
      ),
    );
    for (const socket of sockets) socket.end();
    expect((await fetch(new URL("/readyz", program.base))).status).toBe(200);
    expect([await program.end(), program.errors]).toEqual([0, ""]);
  });

  test("ignores SIGHUP if it was started with nohup", async () => {
    const program = await Program.start(newDataDir(), {}, ["nohup", ...serveCommand]);
    program.child.kill("SIGHUP");
    expect((await fetch(`${program.base}/pets`)).status).toBe(401);
    expect(await program.end()).toBe(0);
    expect(program.output.match(/"event":"stopping"/g)).toHaveLength(1);
  });

  test.each(["npm start >/dev/full", "npm start | true"])("does not outlive npm: %s", async (line) => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir); // the first start alone ends if it cannot print the key
    expect(await first.end()).toBe(0);
    const shell = Bun.spawn(["sh", "-c", line], {
      cwd: root,
      // npm ends because it cannot print what it runs, which it does not print if the tests run with --silent.
      env: { ...process.env, PETSTORE_DATA_DIR: dataDir, PETSTORE_PORT: "0", npm_config_loglevel: "notice" },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await shell.exited;
    const running = () =>
      readdirSync("/proc").filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`PETSTORE_DATA_DIR=${dataDir}\0`);
        } catch {
          return false; // not a process, or it has ended
        }
      });
    await eventually(running, (pids) => pids.length === 0);
  });
});
