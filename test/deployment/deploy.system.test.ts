// Checks the files for Compose, Docker, systemd, Prometheus and Grafana without these tools: the settings, addresses and
// metrics that they name exist.
import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { BlockList } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { domains } from "../../src/app/domains.ts";
import { readConfig } from "../../src/config.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { metricsText } from "../harness/metrics.ts";
import { newDataDir, Program } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { hasValkey, ValkeyServer } from "../harness/valkey-server.ts";
import { assignments, dockerInstructions, interpolate, read, readCompose, root, STOPS_WITHIN } from "./files.ts";

describe("compose.yaml", () => {
  const { services, networks } = readCompose();
  const ours = Object.values(services).filter(({ image }) => image === "petstore");
  const example = assignments(read("deploy/compose/env.example"));

  function addressOf(name: string): string {
    return services[name]?.networks.inside?.ipv4_address ?? "";
  }

  test("runs the service twice, with settings that it takes", () => {
    expect(ours).toHaveLength(2);
    for (const { environment = {} } of ours) {
      expect(Object.keys(environment)).toContain("PETSTORE_SECRET_KEY"); // PostgreSQL has no webhooks without it
      const settings = Object.entries(environment).map(([name, value]) => [
        name,
        interpolate(value, (variable) => example[variable] || randomBytes(32).toString("hex")),
      ]);
      expect(readConfig(Object.fromEntries(settings), undefined, settingsOf(domains)).baseUrl).toBe(
        example["PETSTORE_BASE_URL"] as string,
      );
    }
  });

  test("asks for nothing that the example of its environment does not name", () => {
    const asked = new Set<string>();
    interpolate(read("deploy/compose/compose.yaml"), (name) => {
      asked.add(name);
      return "";
    });
    expect([...asked].toSorted()).toEqual(Object.keys(example).toSorted());
  });

  test("trusts its proxy alone, which knows both processes", () => {
    for (const { environment } of ours) expect(environment?.["PETSTORE_TRUSTED_PROXIES"]).toBe(addressOf("proxy"));
    const upstream = [...read("deploy/compose/petstore-upstream.conf").matchAll(/^server ([\d.]+):8080 /gm)].map(
      ([, address]) => address,
    );
    expect(upstream).toEqual([addressOf("petstore-1"), addressOf("petstore-2")]);
  });

  test("gives no other container a fixed address: those that start earlier would take it", () => {
    const given = new BlockList();
    for (const { ip_range } of networks.inside.ipam.config) {
      const [address = "", bits] = ip_range.split("/");
      given.addSubnet(address, Number(bits));
    }
    const fixed = Object.keys(services).map(addressOf).filter(Boolean);
    expect(fixed).toHaveLength(3);
    expect(fixed.filter((address) => given.check(address))).toEqual([]);
  });

  test("runs Valkey as its image does without root, with no shell", () => {
    expect(services["valkey"]?.command?.[0]).toBe("valkey-server");
  });

  test("gives it the time that it takes to stop", () => {
    for (const { stop_grace_period } of ours)
      expect(Number.parseInt(stop_grace_period ?? "", 10)).toBeGreaterThan(STOPS_WITHIN);
  });
});

describe("the Dockerfile", () => {
  const instructions = dockerInstructions();
  const secondStage = instructions.findLastIndex(([name]) => name === "FROM");
  const build = instructions.slice(0, secondStage);
  const result = instructions.slice(secondStage);

  test("copies what .dockerignore lets through", () => {
    const passed = read(".dockerignore")
      .match(/^!.*$/gm)
      ?.map((line) => line.slice(1));
    const copied = build.filter(([name]) => name === "COPY").flatMap(([, words]) => words.split(" ").slice(0, -1));
    expect(passed?.toSorted()).toEqual(copied.toSorted());
  });

  test("builds the executable from that alone", async () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-image-"));
    for (const [name, words] of build) {
      if (name === "COPY") {
        const [target = "", ...sources] = words.split(" ").toReversed();
        for (const source of sources) {
          const place = source === target ? target : join(target, source.replace(/^.*\//, ""));
          await cp(join(root, source), join(folder, place), { recursive: true });
        }
      }
      if (name !== "RUN") continue;
      if (words.startsWith("npm ci ")) {
        symlinkSync(join(root, "node_modules"), join(folder, "node_modules")); // stands in for it
        continue;
      }
      const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", words], { cwd: folder });
      expect([words, exitCode, exitCode === 0 ? "" : stderr.toString()]).toEqual([words, 0, ""]);
    }
    const taken = result.flatMap(([, words]) => /--from=build .*?\/petstore\/(\S+) /.exec(words)?.[1] ?? []);
    expect(taken).toEqual(["dist/petstore", "data"]);
    expect(taken.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test("sets what the service takes, and is not run by root", () => {
    const [, words = ""] = result.find(([name]) => name === "ENV") ?? [];
    const settings = Object.fromEntries(words.split(" ").map((word) => word.split("=") as [string, string]));
    expect(readConfig(settings, undefined, settingsOf(domains))).toMatchObject({ host: "0.0.0.0", dataDir: "/data" });
    expect(settings["MIMALLOC_PURGE_HOLES"]).toBe("0");
    expect(result.find(([name]) => name === "USER")?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });
});

function analyze(...words: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["systemd-analyze", "--no-pager", ...words]);
  return [exitCode, exitCode === 0 ? stderr.toString() : `${stdout}${stderr}`];
}

describe("petstore@.service", () => {
  const unit = read("deploy/systemd/petstore@.service");
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);

  test.each(["one.env", "many.env"])("has in %s settings that the service takes, and writes where it may", (file) => {
    const key = randomBytes(32).toString("base64");
    const settings = assignments(read(`deploy/systemd/${file}`).replace("SECRET_KEY=", `SECRET_KEY=${key}`));
    const { dataDir, baseUrl, backups } = readConfig(settings, undefined, settingsOf(domains));
    expect(baseUrl).toBe("https://petstore.example.com/v1");
    expect(dataDir).toBe(join("/var/lib", values("StateDirectory")[0] ?? ""));
    if (backups.every !== undefined) expect(values("ReadWritePaths")).toEqual([`-${backups.folder}`]);
    expect(settings["PETSTORE_PORT"]).toBeUndefined(); // it would take the place of the instance's
  });

  test("has the port of its instance, and lets the allocator keep unused memory", () => {
    expect(values("Environment")).toEqual(["MIMALLOC_PURGE_HOLES=0 PETSTORE_PORT=%i"]);
  });

  test("gives it the time that it takes to stop", () => {
    expect(Number.parseInt(values("TimeoutStopSec")[0] ?? "", 10)).toBeGreaterThan(STOPS_WITHIN);
  });

  test("continues if the kernel kills a backup for lack of memory, and never gives up", () => {
    expect(values("OOMPolicy")).toEqual(["continue"]);
    expect(values("StartLimitIntervalSec")).toEqual(["0"]);
    expect(unit).not.toContain("StartLimitBurst");
  });

  test("has the sandbox that its watchdog has too, which is root only to end it", () => {
    const watchdog = read("deploy/systemd/petstore-watchdog@.service").split("\n");
    const [, sandbox = ""] = /\n(CapabilityBoundingSet=[^]*)\n\n\[Install\]/.exec(unit) ?? [];
    const only = ["User=petstore", "ExecStart=+systemctl kill --signal=KILL petstore@%i.service"];
    expect([...only, ...sandbox.split("\n")].filter((line) => !watchdog.includes(line))).toEqual([]);
  });

  test.skipIf(!Bun.which("systemd-analyze"))("is accepted by systemd, with an exposure of at most 1.5", () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-unit-"));
    const watchdog = ["petstore-watchdog@.service", "petstore-watchdog@.timer"];
    for (const file of ["petstore@.service", ...watchdog]) {
      const text = read(`deploy/systemd/${file}`).replaceAll("/usr/local/bin/petstore", process.execPath); // which must exist
      writeFileSync(join(folder, file), text);
    }
    const instances = ["petstore@.service", ...watchdog].map((file) => join(folder, file.replace("@", "@8081")));
    expect(analyze("verify", ...instances)).toEqual([0, ""]);
    for (const file of ["petstore@.service", "petstore-watchdog@.service"])
      expect(analyze("security", "--offline=true", "--threshold=15", join(folder, file))).toEqual([0, ""]);
    rmSync(folder, { recursive: true });
  });
});

test("petstore-admin reads the settings without obeying them as a shell", () => {
  const file = join(mkdtempSync(join(tmpdir(), "petstore-admin-")), "petstore.env");
  const given = [
    "# A comment",
    "A=postgres://x/?a=1&b=$(id);c=`id`",
    'B="two words"',
    "C='it$HOME'",
    "D=",
    "not a setting",
  ];
  writeFileSync(file, given.join("\n")); // without a line break at the end
  const script = read("deploy/systemd/petstore-admin")
    .replace("/etc/petstore.env", file)
    .replace("runuser -u petstore -- /usr/local/bin/petstore", "env");
  const { stdout, stderr } = Bun.spawnSync(["sh", "-c", script], { env: { PATH: process.env["PATH"] } });
  const lines = stdout.toString().split("\n");
  expect([stderr.toString(), lines.filter((line) => /^[ABCD]=/.test(line)).toSorted()]).toEqual([
    "",
    ["A=postgres://x/?a=1&b=$(id);c=`id`", "B=two words", "C=it$HOME", "D="],
  ]);
});

describe.skipIf(!hasValkey)("alert rules and board", () => {
  const rules = parse(read("deploy/monitoring/prometheus-alerts.yaml")) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string; description?: string } }[] }[];
  };
  const alerts = rules.groups.flatMap((group) => group.rules);
  const board = JSON.parse(read("deploy/monitoring/grafana.json")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const expressions: [string, string][] = [
    ...alerts.map(({ alert, expr }): [string, string] => [alert, expr]),
    ...board.panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr])),
  ];

  test("name metrics that the service has, each used as what it is", async () => {
    const valkey = await ValkeyServer.start();
    const program = await Program.start(newDataDir(), {
      PETSTORE_VALKEY_URL: valkey.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      PETSTORE_BACKUP_EVERY: "1d",
    });
    const exposed = await metricsText(program.base);
    expect(await program.end()).toBe(0);
    await valkey.stop();
    const types = new Map(
      [...exposed.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
    );
    for (const [name, type] of types) {
      if (type === "histogram") for (const part of ["bucket", "sum", "count"]) types.set(`${name}_${part}`, "counter");
    }
    const used = expressions.flatMap(([where, expr]) =>
      [...expr.matchAll(/(?:(rate|increase|delta|changes)\()?\b((?:petstore|process)_\w+)/g)].map(
        ([, how, name = ""]) => ({
          where,
          name,
          isFit:
            types.get(name) === "counter" ? how === "rate" || how === "increase" : types.has(name) && how !== "rate",
        }),
      ),
    );
    expect(used.length).toBeGreaterThan(expressions.length / 2);
    expect(used.filter(({ isFit }) => !isFit)).toEqual([]);
  });

  test("tell why usage may be missing in the words of the service", async () => {
    const service = await TestService.start();
    const exposed = await metricsText(service.app.base);
    await service.stop();
    const [help = ""] = /^# HELP petstore_usage_uncounted_total .*$/m.exec(exposed) ?? [];
    const causes = [...help.matchAll(/because ([^,.]+)/g)].map(([, cause = ""]) => cause);
    expect(causes).toHaveLength(2);
    const description = alerts.find(({ alert }) => alert === "PetstoreUsageNotCounted")?.annotations.description;
    for (const cause of causes) expect(description).toContain(cause);
  });
});
