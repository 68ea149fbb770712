import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { limiterConformance } from "../../../test/conformance/limiter.ts";
import { callerOf } from "../../../test/conformance/limiter-model.ts";
import { openProcess } from "../../../test/harness/limiter-process.ts";
import { ManualClock } from "../../../test/harness/manual-clock.ts";
import { eventually } from "../../../test/harness/program.ts";
import { TestService } from "../../../test/harness/service.ts";
import { hasValkey, ValkeyCluster, ValkeyServer } from "../../../test/harness/valkey-server.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";
import { inspectValkey } from "./inspect.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./valkey-url.ts";

let server: ValkeyServer;
let cluster: ValkeyCluster;
beforeAll(async () => {
  if (hasValkey) [server, cluster] = await Promise.all([ValkeyServer.start(), ValkeyCluster.start()]);
});
afterAll(async () => {
  if (hasValkey) await Promise.all([server.stop(), cluster.stop()]);
});

/** One process with a long timeout, because these tests also run on busy machines. */
const open = async (url: string, clock?: ManualClock, prefix?: string) => {
  const process = await openProcess(url, {
    callTimeout: 30_000,
    ...(clock ? { clock } : {}),
    ...(prefix ? { prefix } : {}),
  });
  const close = () => {
    expect(process.changes).toEqual([]); // local decisions would not test the server
    return process.close();
  };
  expect(process.counts.isAlone).toBe(false);
  return { ...process, close };
};

describe.skipIf(!hasValkey)("with a Valkey server", () => {
  limiterConformance("a limiter in Valkey", (clock) => open(server.url, clock), 60);
  limiterConformance("a limiter in a Valkey cluster", (clock) => open(cluster.url, clock), 15);
});

describe.skipIf(!hasValkey)("a limiter in Valkey", () => {
  test("admits exactly the limit over four processes and 50 connections, by the server's clock", async () => {
    for (const { url } of [server, cluster]) {
      const processes = await Promise.all(Array.from({ length: 4 }, () => open(url, undefined, `crowd-${url}`)));
      const caller = callerOf("acc_1", "key_1", { perMinute: 100, perDay: 1_000 });
      const answers = await Promise.all(
        Array.from({ length: 50 * 40 }, async (_, index) => processes[index % 4]?.limiter.admit(caller)),
      );
      const admitted = answers.filter((answer) => answer?.verdict === "admitted");
      expect(admitted).toHaveLength(100);
      expect(new Set(admitted.map((answer) => answer?.remaining)).size).toBe(100);
      const rest = (answers.at(-1)?.reset ?? 0) - Date.now() / 1_000;
      expect(rest).toBeGreaterThan(0);
      expect(rest).toBeLessThanOrEqual(61);
      await Promise.all(processes.map(({ close }) => close()));
    }
  });

  test("admits exactly 20 requests for a sandbox in a minute, over four processes", async () => {
    for (const { url } of [server, cluster]) {
      const processes = await Promise.all(Array.from({ length: 4 }, () => open(url, undefined, `operations-${url}`)));
      const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 1 });
      const answers = await Promise.all(
        Array.from({ length: 100 }, async (_, index) =>
          processes[index % 4]?.limiter.admitSeparately(caller, "sandbox"),
        ),
      );
      expect(answers.filter((answer) => answer?.verdict === "admitted")).toHaveLength(20);
      await Promise.all(processes.map(({ close }) => close()));
    }
  });

  test("counts and strikes survive the end of the process", async () => {
    const clock = new ManualClock();
    const first = await open(server.url, clock, "outlive:");
    const caller = callerOf("acc_1", "key_1", { perMinute: 3, perDay: 1_000 });
    for (let count = 0; count < 4; count++) await first.limiter.admit(caller);
    clock.advance(1_000);
    for (let count = 0; count < 19; count++) await first.limiter.admit(caller);
    await first.close();
    const second = await open(server.url, clock, "outlive:");
    expect(await second.limiter.admit(caller)).toMatchObject({ verdict: "limited", isLastStrike: true });
    await second.close();
  });

  test("sends one request to the server for each turn of the event loop", async () => {
    const { limiter, close } = await open(server.url);
    const commands = async () => {
      const stats = String(await server.command("INFO", "commandstats"));
      return Number(/cmdstat_evalsha:calls=([0-9]+)/.exec(stats)?.[1] ?? 0);
    };
    const caller = callerOf("acc_1", "key_1", { perMinute: 1_000, perDay: 10_000 });
    await limiter.admit(caller);
    const others = Array.from({ length: 8 }, (_, index) => ({ ...caller, accountId: `acc_${index}` }));
    await Promise.all(others.map(async (other) => limiter.admit(other)));
    const before = await commands();
    for (let count = 0; count < 500; count++) {
      const turn = [caller, caller, ...others, { ...caller, keyId: "key_2" }];
      await Promise.all([...turn.map(async (one) => limiter.admit(one)), limiter.admitAddress("192.0.2.1")]);
    }
    const asked = (await commands()) - before;
    expect(asked).toBeGreaterThanOrEqual(500);
    expect(asked).toBeLessThan(520); // the decisions, and some reports that this process runs
    await close();
  });

  test("decides a turn of many accounts", async () => {
    for (const { url } of [server, cluster]) {
      const { limiter, close } = await open(url);
      const quota = { perMinute: 10, perDay: 10_000 };
      const many = Array.from({ length: 2_001 }, (_, index) => callerOf(`acc_${index}`, `key_${index}`, quota));
      for (const remaining of [9, 8]) {
        const answers = await Promise.all(many.map(async (caller) => limiter.admit(caller)));
        expect(new Set(answers.map((answer) => answer.remaining))).toEqual(new Set([remaining]));
      }
      await close();
    }
  });

  test("keeps nothing about a forgotten account", async () => {
    for (const { url } of [server, cluster]) {
      const { limiter, close } = await open(url, undefined, "forgotten:");
      const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 10 });
      for (const one of [caller, { ...caller, mode: "live" as const }]) await limiter.admit(one);
      for (const separate of ["sandbox", "plan"] as const) await limiter.admitSeparately(caller, separate);
      await limiter.forget("acc_1");
      if (url === server.url) expect(await server.command("KEYS", "forgotten:{*")).toEqual([]);
      expect((await limiter.limitStatus(caller)).day.used).toBe(0);
      await close();
    }
  });

  test("needs only the permissions that docs/many-processes.md lists", async () => {
    const page = readFileSync(join(import.meta.dir, "../../../docs/many-processes.md"), "utf8");
    const [, permissions = "", more = ""] =
      /The user needs only `([^`]+)`, and in a cluster `([^`]+)`/.exec(page) ?? [];
    const stores = [
      { url: `${server.url}/1`, servers: [server], rules: permissions },
      { url: cluster.url, servers: [...cluster.masters, ...cluster.replicas], rules: `${permissions} ${more}` },
    ];
    for (const { url, servers, rules } of stores) {
      const words = ["SETUSER", "petstore", "on", ">pass", ...rules.split(" ")];
      await Promise.all(servers.map((one) => one.command("ACL", ...words)));
      const login = url.replace("//", "//petstore:pass@");
      const { limiter, close } = await open(login, new ManualClock(), "petstore:");
      const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 10 });
      for (const verdict of ["admitted", "limited"]) expect(await limiter.admit(caller)).toMatchObject({ verdict });
      await limiter.admitSeparately(caller, "sandbox");
      await limiter.admitAddress("192.0.2.1");
      const address = parseValkeyUrl(login) as ValkeyAddress;
      expect((await inspectValkey(address)).evictionPolicy).toBe("noeviction");
      await limiter.forget("acc_1");
      await close();
    }
  });

  test("says why the server did not forget an account", async () => {
    await server.command("ACL", "SETUSER", "reader", "on", ">pass", "~*", "+@all", "-unlink");
    const { limiter, close } = await open(server.url.replace("//", "//reader:pass@"));
    const error = (await limiter.forget("acc_1").catch((caught: unknown) => caught)) as Error;
    expect(error).toBeInstanceOf(StorageUnavailable);
    expect(error.message).toContain((error.cause as Error).message);
    await close();
  });

  test("keeps little, and only as long as it is needed", async () => {
    const { limiter, close } = await open(server.url, undefined, "kept:");
    const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 10 });
    for (let count = 0; count < 3; count++) await limiter.admit(caller);
    await limiter.admitAddress("2001:db8::1");
    const keys = (await server.command("KEYS", "kept:*")) as string[];
    expect(keys.toSorted()).toEqual(["kept:processes", "kept:{2001:db8::1}:address", "kept:{acc_1}:test"]);
    for (const key of keys) {
      const lifetime = Number(await server.command("PTTL", key));
      expect(lifetime).toBeGreaterThan(0);
      expect(lifetime).toBeLessThanOrEqual(DAY_MS + MINUTE_MS);
      if (key !== "kept:processes") expect(Number(await server.command("MEMORY", "USAGE", key))).toBeLessThan(300);
    }
    await close();
  });
});

test.skipIf(!hasValkey)("a service that cannot start closes its connections to the server", async () => {
  const service = await TestService.start();
  const settings = { PETSTORE_VALKEY_URL: server.url, PETSTORE_PORT: String(service.app.port) };
  expect(await TestService.start({ settings }).catch(String)).toContain("is in use");
  await eventually(
    () => server.command("CLIENT", "LIST"),
    (clients) => String(clients).trimEnd().split("\n").length === 1, // that of the command itself
  );
  await service.stop();
});

describe("PETSTORE_VALKEY_URL", () => {
  const login = { user: "", password: "", database: 0, isTls: false };
  test.each([
    ["redis://127.0.0.1", ["127.0.0.1:6379"], false, login],
    ["valkey://cache:6380/2", ["cache:6380"], false, { ...login, database: 2 }],
    [
      "rediss://user:pa%20ss@cache.example",
      ["cache.example:6379"],
      false,
      { ...login, user: "user", password: "pa ss", isTls: true },
    ],
    ["redis://a:1,b:2,c", ["a:1", "b:2", "c:6379"], true, login],
    ["valkeys://:secret@a:1,b:2", ["a:1", "b:2"], true, { ...login, password: "secret", isTls: true }],
    ["redis://seed:7000?cluster=true", ["seed:7000"], true, login],
    ["redis://[::1]:6380", ["::1:6380"], false, login],
  ])("accepts %s", (text, nodes, isCluster, expected) => {
    const address = parseValkeyUrl(text);
    expect(address?.nodes.map(({ host, port }) => `${host}:${port}`)).toEqual(nodes);
    expect(address).toMatchObject({ isCluster, login: expected });
    expect(address?.shown).not.toMatch(/@|secret|pa%20ss/);
  });

  test.each([
    "",
    "cache:6379",
    "http://cache",
    "redis://",
    "redis://a,b/1",
    "redis://a?cluster=1",
    "redis://a:port",
    "redis://a,,b",
    "redis://a:70000",
    "redis://user:%@a",
  ])("rejects %p", (text) => {
    expect(parseValkeyUrl(text)).toBeUndefined();
  });
});
