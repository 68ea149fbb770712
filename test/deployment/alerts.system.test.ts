// Every alert fires when its metrics change as they do in a fault. Some faults are made here, to see that they change so.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { metric, metricsText } from "../harness/metrics.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { read, root } from "./files.ts";

const promtool = Bun.which("promtool");

interface Rule {
  readonly alert: string;
  readonly annotations: { readonly description?: string };
}

const { groups } = parse(read("deploy/monitoring/prometheus-alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** One value for each minute from 0 on, as `promtool` reads them, and what is on the operator's screen then. */
interface Case {
  readonly series: Readonly<Record<string, string>>;
  /** Other values with which it is as quiet, and fires. */
  readonly orSeries?: Readonly<Record<string, string>>;
  /** The minute before which the alert does not fire, and at which it does. */
  readonly quiet: number;
  readonly fires: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
}

const at = { job: "petstore", instance: "a:8080" };

/** The name with the labels of a scrape, and others. */
const of = (name: string, labels: Record<string, string> = {}) =>
  `${name}{${Object.entries({ ...at, ...labels }).map(([label, value]) => `${label}="${value}"`)}}`;

/** A histogram that grows each minute by ten that took up to `slow` seconds, after ten minutes of fast ones. */
const histogram = (name: string, slow: string, labels: Record<string, string> = {}) => ({
  [of(`${name}_bucket`, { ...labels, le: "0.001" })]: "0+10x10 100x30",
  [of(`${name}_bucket`, { ...labels, le: slow })]: "0+10x40",
  [of(`${name}_bucket`, { ...labels, le: "+Inf" })]: "0+10x40",
});

const cases: Readonly<Record<string, Case>> = {
  PetstoreDown: {
    series: { [of("up")]: "1x5 0x10" },
    quiet: 6,
    fires: 8,
    labels: { ...at, severity: "critical" },
    summary: "a:8080 does not respond.",
  },
  PetstoreBackupOld: {
    series: {
      [of("petstore_backup_newest_timestamp_seconds")]: "0x200",
      [of("petstore_backup_interval_seconds")]: "3600x200",
    },
    quiet: 119,
    fires: 131,
    labels: { ...at, severity: "critical" },
    summary: "The newest backup of a:8080 is 2h 11m 0s old.",
  },
  PetstoreRestarts: {
    series: { [of("process_start_time_seconds")]: "1x5 2 3 4 4x10" },
    quiet: 7,
    fires: 9,
    labels: { ...at, severity: "warning" },
    summary: "a:8080 has started 3 times in 15 minutes.",
  },
  PetstoreClockJumped: {
    series: { [of("petstore_clock_ahead_seconds")]: "0x10 -7200x10" },
    quiet: 10,
    fires: 11,
    labels: { ...at, severity: "warning" },
    summary: "The wall clock of a:8080 was set by 2h 0m 0s.",
  },
  PetstoreDiskFull: {
    series: { [of("petstore_disk_bytes")]: "1000x40", [of("petstore_disk_free_bytes")]: "101x10 50x30" },
    quiet: 10,
    fires: 17,
    labels: { ...at, severity: "critical" },
    summary: "The disk of a:8080 has 5% left.",
  },
  PetstoreStoreLogLarge: {
    series: { [of("petstore_store_log_bytes")]: "67108864x10 209715200x30" },
    quiet: 25,
    fires: 26,
    labels: { ...at, severity: "warning" },
    summary: "The write-ahead log of the store of a:8080 stays at 200MiB.",
  },
  PetstoreEventLoopBlocked: {
    series: { [of("petstore_event_loop_delay_seconds")]: "0.5x10 2x30" },
    quiet: 10,
    fires: 17,
    labels: { ...at, severity: "warning" },
    summary: "a:8080 is blocked for 2s again and again.",
  },
  PetstoreStoreNew: {
    series: { [of("petstore_store_new")]: "0x10 1x30" },
    quiet: 10,
    fires: 11,
    labels: { ...at, severity: "warning" },
    summary: "a:8080 serves a store that is new, restored or copied.",
  },
  PetstoreBackupSmall: {
    series: { [of("petstore_backup_newest_bytes")]: "1048576x10 600000x10 102400x10" },
    quiet: 21,
    fires: 22,
    labels: { ...at, severity: "critical" },
    summary: "The newest backup of a:8080 has 100kiB, less than half of one before.",
  },
  PetstoreServerErrors: {
    series: {
      [of("petstore_requests_total", { operation: "listPets", status: "200" })]: "0+90x40",
      [of("petstore_requests_total", { operation: "listPets", status: "500" })]: "0x10 0+10x30",
    },
    quiet: 10,
    fires: 25,
    labels: { job: "petstore", severity: "critical" },
    summary: "10% of all requests fail.",
  },
  PetstoreStoreFails: {
    series: { [of("petstore_store_failures_total", { cause: "SQLITE_FULL" })]: "0x10 0+1x30" },
    quiet: 10,
    fires: 15,
    labels: { instance: "a:8080", cause: "SQLITE_FULL", severity: "critical" },
    summary: "The store of a:8080 fails: SQLITE_FULL.",
  },
  PetstoreSlowResponses: {
    series: {
      ...histogram("petstore_request_duration_seconds", "1", { operation: "resetSandbox" }), // slow by design
      ...histogram("petstore_request_duration_seconds", "0.5", { operation: "listPets" }),
    },
    quiet: 10,
    fires: 30,
    labels: { operation: "listPets", severity: "warning" },
    summary: "One in a hundred responses of listPets takes more than 495ms.",
  },
  PetstoreSlowCommits: {
    series: histogram("petstore_commit_duration_seconds", "0.25"),
    quiet: 10,
    fires: 30,
    labels: { instance: "a:8080", severity: "warning" },
    summary: "One in a hundred commits of a:8080 takes more than 247.5ms.",
  },
  PetstoreKeysBanned: {
    series: { [of("petstore_bans_total")]: "0x10 3x30" },
    quiet: 10,
    fires: 12,
    labels: { job: "petstore", severity: "info" },
    summary: "3 bans began within 15 minutes, because keys kept sending after a 429.",
  },
  PetstoreInvalidKeys: {
    series: { [of("petstore_invalid_keys_total")]: "0x10 0+120x30" },
    quiet: 10,
    fires: 20,
    labels: { job: "petstore", severity: "warning" },
    summary: "2.0 requests a second come with keys that are not valid.",
  },
  PetstoreOverloaded: {
    series: { [of("petstore_requests_shed_total")]: "0x10 0+5x30" },
    quiet: 10,
    fires: 14,
    labels: { ...at, severity: "critical" },
    summary: "a:8080 is overloaded and refuses some requests.",
  },
  PetstoreLimitsNotShared: {
    series: { [of("petstore_limiter_degraded")]: "0x10 1x30", [of("petstore_limiter_degraded_total")]: "0x10 1x30" },
    orSeries: {
      [of("petstore_limiter_degraded")]: "0x10 1 0 1 0 1 0 1 0 1 0",
      [of("petstore_limiter_degraded_total")]: "0x10 0+2x30",
    },
    quiet: 10,
    fires: 17,
    labels: { ...at, severity: "warning" },
    summary: "a:8080 counts limits alone, all the time or again and again.",
  },
  PetstoreUsageNotCounted: {
    series: { [of("petstore_usage_uncounted_total")]: "_x30 5 20x30" }, // for Prometheus, an increase of 16.25
    quiet: 30,
    fires: 36,
    labels: { ...at, severity: "warning" },
    summary: "Up to 16 requests are not counted in the usage.",
  },
  PetstoreWebhooksLate: {
    series: { [of("petstore_webhook_lag_seconds")]: "0x10 120x30" },
    quiet: 10,
    fires: 20,
    labels: { job: "petstore", severity: "warning" },
    summary: "Events wait 2m 0s until they are first sent to webhook endpoints.",
  },
  PetstoreWebhookEndpointsStayDisabled: {
    series: { [of("petstore_webhook_endpoints_disabled")]: "0x10 2x1500" },
    quiet: 1_440,
    fires: 1_455,
    labels: { job: "petstore", severity: "info" },
    summary: "2 webhook endpoints have been disabled for a day.",
  },
};

test("every alert has a case here", () => {
  expect(Object.keys(cases).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

/** Runs `promtool`. Returns what it said of a failure; an empty text for none. */
function run(...words: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool as string, ...words]);
  return exitCode === 0 ? "" : `${stdout}${stderr}`;
}

describe.skipIf(promtool === null)("promtool", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-alerts-"));
  const file = join(root, "deploy/monitoring/prometheus-alerts.yaml");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("takes the rules", () => {
    expect(run("check", "rules", file)).toBe("");
  });

  test("takes the documented scrape configuration, which scrapes the job and the machines that other files name", () => {
    const [, block = ""] = /```yaml\n(scrape_configs:[^]*?)```/.exec(read("deploy/README.md")) ?? [];
    const place = join(folder, "prometheus.yaml");
    writeFileSync(place, `rule_files: [${file}]\n${block}`);
    expect(run("check", "config", place)).toBe("");
    const [{ job_name, static_configs }] = parse(block).scrape_configs;
    expect(job_name).toBe(at.job);
    const servers = read("deploy/proxy/nginx-three.conf").matchAll(/^ *server (\S+) max_fails/gm);
    expect(static_configs[0].targets).toEqual([...servers].map(([, server]) => server));
  });

  test.each(rules.map(({ alert, annotations }) => [alert, annotations] as const))(
    "sees %s fire, and not before",
    (alertname, { description }) => {
      const { series, orSeries, quiet, fires, labels, summary } = cases[alertname] as Case;
      const fired = { exp_labels: labels, exp_annotations: { summary, ...(description && { description }) } };
      const tests = [series, orSeries ?? series].map((given) => ({
        interval: "1m",
        input_series: Object.entries(given).map(([one, values]) => ({ series: one, values })),
        alert_rule_test: [
          { eval_time: `${quiet}m`, alertname, exp_alerts: [] },
          { eval_time: `${fires}m`, alertname, exp_alerts: [fired] },
        ],
      }));
      const place = join(folder, `${alertname}.yaml`);
      writeFileSync(place, JSON.stringify({ rule_files: [file], evaluation_interval: "1m", tests }));
      expect(run("test", "rules", place)).toBe("");
    },
  );
});

/** A series as Prometheus has it: its name is one of its labels. Those of a scrape are left out. */
function labelsOf(series: string): Record<string, string> {
  const [, name = "", inside = ""] = /^(\w+)(?:\{(.*)\})?/.exec(series) ?? [];
  const pairs = [...inside.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value] as const);
  return {
    __name__: name,
    ...Object.fromEntries(pairs.filter(([label]) => label !== "job" && label !== "instance")),
  };
}

describe("in a running service", () => {
  let service: TestService;
  afterEach(() => service.stop());

  /** The value of the series of an alert's case, less the labels of a scrape; 0 for one that is not there yet. */
  async function valueOf(alert: string, labels: Record<string, string> = {}): Promise<number> {
    const text = await metricsText(service.app.base);
    const [first = ""] = Object.keys(cases[alert]?.series ?? {}).toReversed();
    const { __name__: name, ...own } = labelsOf(first);
    const wanted = { ...own, ...labels };
    return text
      .split("\n")
      .map((line) => [labelsOf(line), Number(line.split(" ").at(-1))] as const)
      .filter(([found]) => found["__name__"] === name)
      .filter(([found]) => Object.keys(found).length === Object.keys(wanted).length + 1)
      .filter(([found]) => Object.entries(wanted).every(([label, value]) => found[label] === value))
      .reduce((sum, [, value]) => sum + value, 0);
  }

  test.skipIf(promtool === null)("the metrics are as promtool wants them", async () => {
    service = await TestService.start();
    await service.call("GET", "/pets", { key: await service.newKey() });
    const { exitCode, stdout, stderr } = Bun.spawnSync([promtool as string, "check", "metrics"], {
      stdin: Buffer.from(await metricsText(service.app.base)),
    });
    expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ""]);
  });

  test("a ban and invalid keys are counted where their alerts look", async () => {
    service = await TestService.start();
    const key = await service.newKey("enterprise", { perMinute: 2, perDay: 1_000 });
    for (let count = 0; count < 3; count++) await service.call("GET", "/pets", { key });
    service.clock.advance(1_000);
    for (let count = 0; count < 19; count++) await service.call("GET", "/pets", { key });
    expect(await valueOf("PetstoreKeysBanned")).toBe(0);
    for (let count = 0; count < 3; count++) await service.call("GET", "/pets", { key });
    expect(await valueOf("PetstoreKeysBanned")).toBe(1);
    expect(await valueOf("PetstoreInvalidKeys")).toBe(0);
    await service.call("GET", "/pets", { key: `${key}x` });
    expect(await valueOf("PetstoreInvalidKeys")).toBe(1);
  });

  test("a store that is locked fails", async () => {
    service = await TestService.start();
    const key = await service.newKey();
    const create = () => service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    expect((await create()).status).toBe(201);
    const unlock = await service.store.lock();
    expect((await create()).status).toBe(503);
    await unlock();
    // Background work may have met the lock, too.
    expect(await valueOf("PetstoreStoreFails", { cause: "SQLITE_BUSY" })).toBeGreaterThanOrEqual(1);
    expect(await valueOf("PetstoreServerErrors", { operation: "createPet", status: "503" })).toBe(1);
    expect(await valueOf("PetstoreSlowCommits", { le: "+Inf" })).toBeGreaterThan(0);
    expect(await valueOf("PetstoreSlowResponses", { operation: "createPet", le: "+Inf" })).toBe(2);
  });

  test("the machine is measured: its disk, its store, and how long the event loop was blocked", async () => {
    service = await TestService.start();
    Bun.sleepSync(700); // the service runs in this process
    await eventually(async () => (await valueOf("PetstoreEventLoopBlocked")) >= 0.5);
    const [free, size] = await Promise.all(
      ["free_", ""].map((part) => metric(service.app.base, `petstore_disk_${part}bytes`)),
    );
    expect(free).toBeGreaterThan(0);
    expect(size).toBeGreaterThan(free as number);
    expect(await metric(service.app.base, "petstore_store_bytes")).toBeGreaterThan(10_000);
    await service.newKey();
    expect(await valueOf("PetstoreStoreLogLarge")).toBeGreaterThan(0);
    expect(await valueOf("PetstoreStoreNew")).toBe(1);
    service = await service.restart();
    expect(await valueOf("PetstoreStoreNew")).toBe(0);
  });

  test("every series of an alert that is there from the start has the labels that the case here says", async () => {
    service = await TestService.start();
    const text = await metricsText(service.app.base);
    for (const { series } of Object.values(cases)) {
      for (const one of Object.keys(series)) {
        const { __name__: name, ...labels } = labelsOf(one);
        const found = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
        for (const line of found) {
          expect(Object.keys(labelsOf(line)).toSorted()).toEqual(["__name__", ...Object.keys(labels)].toSorted());
        }
      }
    }
  });
});
