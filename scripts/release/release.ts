// Builds the files of a release in dist/release: `npm run release`. `--only linux-x64` builds only that executable.
// `--out` names another folder, which must be empty: only dist/release is emptied here.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startPetstore } from "../../client/src/testing.ts";
import consoleManifest from "../../console/package.json" with { type: "json" };
import manifest from "../../package.json" with { type: "json" };
import { clientPackage } from "../../src/app/web/client-package.ts";
import { version } from "../../src/telemetry/version.ts";
import { sampleFaults } from "../../test/samples/sample-files.ts";
import { buildExecutable, runsHere } from "./executable.ts";
import { type Inspected, inspectExecutable } from "./inspect-executable.ts";
import { packService } from "./service-package.ts";
import { versionFaults } from "./versions.ts";

const root = join(import.meta.dir, "../..");

/** The platforms by Bun's names, with the expected headers of their executables. */
const platforms: Readonly<Record<string, Omit<Inspected, "signature">>> = {
  "linux-x64": { format: "ELF", architecture: "x64", libc: "glibc" },
  "linux-x64-musl": { format: "ELF", architecture: "x64", libc: "musl" },
  "linux-arm64": { format: "ELF", architecture: "arm64", libc: "glibc" },
  "linux-arm64-musl": { format: "ELF", architecture: "arm64", libc: "musl" },
  "darwin-x64": { format: "Mach-O", architecture: "x64" },
  "darwin-arm64": { format: "Mach-O", architecture: "arm64" },
  "windows-x64": { format: "PE", architecture: "x64" },
};

const { values } = parseArgs({
  options: { out: { type: "string" }, only: { type: "string", multiple: true } },
});
const target = resolve(values.out ?? join(root, "dist/release"));

// A release needs sample stores, because the tests of later releases open them.
const faults = [...versionFaults(), ...sampleFaults(version)];
if (values.out !== undefined && existsSync(target) && readdirSync(target).length > 0) {
  faults.push(`${target} is not empty.`);
}
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exit(1);
}
if (values.out === undefined) rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const lines: string[] = [];
for (const platform of values.only ?? Object.keys(platforms)) lines.push(await makeExecutable(platform));
console.log(`service   ${packService(target)}`);
await Bun.write(join(target, `petstore-client-${version}.tgz`), await clientPackage());
console.log(`client    petstore-client-${version}.tgz`);
writeFileSync(join(target, `petstore-${version}.cdx.json`), billOfMaterials());
writeFileSync(join(target, "EXECUTABLES.txt"), `${lines.join("\n")}\n`);
writeSums();
console.log(`sums      SHA256SUMS, in ${target}`);

/** Builds and inspects one executable, and tries it if it is for this machine. Returns a line about it. */
async function makeExecutable(platform: string): Promise<string> {
  const wanted = platforms[platform];
  if (!wanted) throw new Error(`${platform} is none of ${Object.keys(platforms).join(", ")}.`);
  const name = `petstore-${version}-${platform}${wanted.format === "PE" ? ".exe" : ""}`;
  const file = join(target, name);
  buildExecutable(file, platform);
  rmSync(`${file}.map`, { force: true }); // the executable has its own
  const found = inspectExecutable(readFileSync(file));
  const { signature, ...rest } = found;
  if (JSON.stringify(rest) !== JSON.stringify(wanted)) {
    throw new Error(`${name} is for ${JSON.stringify(rest)}, not for ${JSON.stringify(wanted)}.`);
  }
  const facts = [found.format, found.architecture, found.libc, signature && `signature ${signature}`].filter(Boolean);
  const line = `${name}: ${facts.join(", ")}; ${runsHere(platform) ? await checkRun(file) : "built, not run"}`;
  console.log(`program   ${line}`);
  return line;
}

/** Lets the executable verify a service that it serves itself. */
async function checkRun(file: string): Promise<string> {
  const said = call(file, ["--version"]).trim();
  if (said !== `petstore ${version}`) throw new Error(`${file} --version printed ${said}.`);
  const { baseUrl, key, stop } = await startPetstore({ command: [file] });
  const env = { ...process.env, PETSTORE_KEY: key };
  const verifying = Bun.spawn([file, "verify", baseUrl], { env, stdout: "pipe", stderr: "inherit" });
  const [found, status] = [await verifying.stdout.text(), await verifying.exited];
  await stop();
  if (status !== 0) throw new Error(`${file} does not pass: ${found}`);
  return "built, run and verified";
}

/** The packages of the service in CycloneDX format, listed by npm, with those that its pages are built from. */
function billOfMaterials(): string {
  const text = call("npm", ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--omit", "dev"]);
  const { metadata, components, ...bill } = JSON.parse(text) as {
    readonly metadata: { readonly component: object };
    readonly components: readonly { readonly name: string }[];
  };
  // npm names it after the folder, and leaves out dependencies that development tools also need.
  const named = { ...metadata, component: { ...metadata.component, name: manifest.name } };
  const pages = {
    ...consoleManifest.devDependencies,
    "@scalar/api-reference": manifest.devDependencies["@scalar/api-reference"],
  };
  const missing = Object.entries({ ...manifest.dependencies, ...pages })
    .filter(([name]) => !components.some((component) => component.name === name))
    .map(([name, pinned]) => ({ type: "library", name, version: pinned, purl: `pkg:npm/${name}@${pinned}` }));
  return `${JSON.stringify({ ...bill, metadata: named, components: [...components, ...missing] }, undefined, 2)}\n`;
}

function writeSums(): void {
  const sums = readdirSync(target)
    .toSorted()
    .map((name) => {
      const digest = createHash("sha256")
        .update(readFileSync(join(target, name)))
        .digest("hex");
      return `${digest}  ${name}`;
    });
  const unfinished = join(target, "SHA256SUMS.unfinished");
  writeFileSync(unfinished, `${sums.join("\n")}\n`);
  renameSync(unfinished, join(target, "SHA256SUMS"));
}

function call(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
  return stdout;
}
