// How the scripts of package.json start Bun, whatever shell npm uses.
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment } from "../harness/keys.ts";
import { eventually, newDataDir, npmStart, Program } from "../harness/program.ts";

const launcher = join(import.meta.dir, "../../scripts/run.mjs");

function launch(...words: string[]) {
  return Bun.spawn(["node", launcher, ...words], { stdin: Buffer.from("in"), stdout: "pipe", stderr: "pipe" });
}

describe("the launcher", () => {
  test.each([
    ["process.exit(0)", 0],
    ["process.exit(7)", 7],
    ["process.kill(process.pid, 'SIGKILL')", 137],
    ["process.kill(process.pid, 'SIGTERM')", 143],
  ])("ends with the status of the program: %s", async (program, status) => {
    expect(await launch("-e", program).exited).toBe(status);
  });

  test("passes arguments, input, output and errors unchanged", async () => {
    const echo = "console.log(await Bun.stdin.text()); console.error(JSON.stringify(process.argv.slice(1)))";
    const { stdout, stderr, exited } = launch("-e", echo, "two words", "$HOME", "'\"", "");
    expect([await new Response(stdout).text(), await new Response(stderr).text()]).toEqual([
      "in\n",
      `${JSON.stringify(["two words", "$HOME", "'\"", ""])}\n`,
    ]);
    expect(await exited).toBe(0);
  });

  test.each([
    [{}, "0"],
    [{ MIMALLOC_PURGE_HOLES: "1" }, "1"],
  ])(
    "tells the allocator to keep unused memory, unless the environment says otherwise: %j",
    async (given, expected) => {
      const { MIMALLOC_PURGE_HOLES: _own, ...env } = process.env;
      const program = ["node", launcher, "-e", "console.log(process.env.MIMALLOC_PURGE_HOLES)"];
      const child = Bun.spawn(program, { env: { ...env, ...given }, stdout: "pipe" });
      expect(await new Response(child.stdout).text()).toBe(`${expected}\n`);
    },
  );

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("passes %s on", async (signal) => {
    const child = launch(
      "-e",
      `process.on("${signal}", () => process.exit(9)); setInterval(() => {}, 1e6); console.log("on")`,
    );
    await child.stdout.getReader().read();
    child.kill(signal);
    expect(await child.exited).toBe(9);
  });
});

test.each([
  [
    "cannot put Bun in place is told what the owner of the folder must type",
    0,
    (bun: string) => `Bun is not installed. Run once as the owner of that folder: cd ${bun} && node install.js`,
  ],
  [
    "may not execute Bun is told so, and no other Bun is installed",
    0o070,
    (bun: string) =>
      `This user may not execute ${bun}/bin/bun.exe. Check its permissions, and that its disk is not mounted with noexec.`,
  ],
])("a user who %s", (_, mode, advice) => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-launch-"));
  mkdirSync(join(folder, "scripts"));
  mkdirSync(join(folder, "node_modules/bun/bin"), { recursive: true });
  copyFileSync(join(import.meta.dir, "../../scripts/ensure-bun.mjs"), join(folder, "scripts/ensure-bun.mjs"));
  if (mode !== 0) writeFileSync(join(folder, "node_modules/bun/bin/bun.exe"), "", { mode });
  chmodSync(join(folder, "node_modules/bun/bin"), 0o555);
  chmodSync(folder, 0o755);
  const program = `import { ensureBun } from "${folder}/scripts/ensure-bun.mjs"; ensureBun();`;
  const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}; // root may write everywhere
  const { status, stderr } = spawnSync("node", ["--input-type=module", "-e", program], {
    ...other,
    encoding: "utf8",
    cwd: folder,
  });
  rmSync(folder, { recursive: true });
  expect([status, stderr]).toEqual([1, `${advice(`${folder}/node_modules/bun`)}\n`]);
});

test("SIGTERM to npm stops the service gracefully, despite a shell in between", async () => {
  const shell = join(newDataDir(), "shell");
  writeFileSync(shell, '#!/bin/sh\n/bin/sh "$@"\nexit $?\n', { mode: 0o755 });
  const program = await Program.start(newDataDir(), { ...environment, npm_config_script_shell: shell }, npmStart);
  await program.end();
  await program.until(() => program.output.includes('"event":"stopping"'));
  const isGone = () =>
    fetch(`http://127.0.0.1:${program.port}/healthz`).then(
      () => false,
      () => true,
    );
  await eventually(isGone);
});
