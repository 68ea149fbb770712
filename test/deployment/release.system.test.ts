// The files of a release besides the executables, and what is read in the headers of executables for other platforms.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { inspectExecutable } from "../../scripts/release/inspect-executable.ts";
import { eventually, Program } from "../harness/program.ts";

const root = join(import.meta.dir, "../..");
const run = (words: string[], cwd = root) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
};

describe("npm run release", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "petstore-release-"));
    const platforms = ["linux-x64-musl", "darwin-arm64"].flatMap((one) => ["--only", one]);
    const { status, stderr } = run(["npm", "run", "--silent", "release", "--", "--out", folder, ...platforms]);
    expect([status, stderr]).toEqual([0, ""]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);

  test("labels executables that were not run, and gives the sum of each file", () => {
    expect(readFileSync(file("EXECUTABLES.txt"), "utf8")).toBe(
      `petstore-${manifest.version}-linux-x64-musl: ELF, x64, musl; built, not run\n` +
        `petstore-${manifest.version}-darwin-arm64: Mach-O, arm64, ` +
        `${/signature ad hoc, \d+ pages compared/.exec(readFileSync(file("EXECUTABLES.txt"), "utf8"))?.[0]}; built, not run\n`,
    );
    expect(run(["sha256sum", "--check", "--strict", "SHA256SUMS"], folder).status).toBe(0);
    const bytes = readFileSync(file(`petstore-${manifest.version}-darwin-arm64`));
    bytes[5_000_000] = (bytes[5_000_000] ?? 0) ^ 1;
    expect(inspectExecutable(bytes).signature).toStartWith("not valid (1 of ");
  });

  test("keeps the files of another folder: it must be empty", () => {
    const before = readdirSync(folder);
    const { status, stderr } = run(["npm", "run", "--silent", "release", "--", "--out", folder]);
    expect([status, stderr]).toEqual([1, `${folder} is not empty.\n`]);
    expect(readdirSync(folder)).toEqual(before);
  });

  test("lists what the service is made of", () => {
    const bill = JSON.parse(readFileSync(file(`petstore-${manifest.version}.cdx.json`), "utf8"));
    expect([bill.bomFormat, bill.metadata.component.name]).toEqual(["CycloneDX", "petstore"]);
    const names = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(manifest.dependencies), "preact", "@scalar/api-reference"]),
    );
    expect(names).not.toContain("knip");
  });

  test("packs a service that serves the interface, the reference page, the console and the client", async () => {
    // As npm installs it, but without the network: Bun is the one of this project.
    const installed = join(folder, "installed/node_modules");
    mkdirSync(join(installed, "petstore"), { recursive: true });
    symlinkSync(join(root, "node_modules/bun"), join(installed, "bun"));
    run(["tar", "-xzf", file(`petstore-${manifest.version}.tgz`), "--strip-components=1"], join(installed, "petstore"));
    const own = JSON.parse(readFileSync(join(installed, "petstore/package.json"), "utf8"));
    expect(own.dependencies).toEqual({ bun: manifest.dependencies.bun });
    const command = join(installed, "petstore", own.bin.petstore);
    expect(run([command, "--version"]).stdout).toBe(`petstore ${manifest.version}\n`);
    const program = await Program.start(join(folder, "data"), {}, [command, "serve"]);
    const origin = new URL(program.base).origin;
    for (const path of ["/openapi.json", "/docs"]) expect((await fetch(origin + path)).status).toBe(200);
    const client = readFileSync(file(`petstore-client-${manifest.version}.tgz`));
    expect(client.equals(await (await fetch(`${origin}/client.tgz`)).bytes())).toBe(true);
    const { status } = await eventually(
      () => fetch(`${origin}/console`),
      (response) => response.status === 200,
    );
    expect(status).toBe(200);
    const page = await (await fetch(`${origin}/docs`)).text();
    const script = /src="([^"]*reference-[^"]*)"/.exec(page)?.[1] ?? "";
    expect((await fetch(new URL(script, origin))).status).toBe(200);
    expect(program.output).toContain(`node "${join(installed, "petstore/scripts/petstore.mjs")}" keys create`);
    expect(await program.end()).toBe(0);
  });

  test("packs the client that the service gives away", () => {
    const { stdout } = run(["tar", "-tzf", file(`petstore-client-${manifest.version}.tgz`)]);
    expect(stdout.split("\n")).toContain("package/dist/index.js");
  });
});
