// Commands to a server or cluster, over real connections.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import { callerOf } from "../../../test/conformance/limiter-model.ts";
import { openProcess } from "../../../test/harness/limiter-process.ts";
import { eventually } from "../../../test/harness/program.ts";
import { hasValkey, ValkeyCluster, ValkeyServer } from "../../../test/harness/valkey-server.ts";
import { inspectValkey } from "./inspect.ts";
import { script } from "./scripts.ts";
import { Valkey } from "./valkey.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./valkey-url.ts";

/** Longer than a busy machine needs, in milliseconds. */
const CALL_TIMEOUT = 30_000;
const SLOTS = 16_384;

const connect = (url: string, callTimeout = CALL_TIMEOUT) =>
  Valkey.connect(parseValkeyUrl(url) as ValkeyAddress, callTimeout);
const command = script("return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))");
const ask = (valkey: Valkey, name: string, key: string, ...words: (string | number)[]) =>
  valkey.run(command, [key], [name, ...words]);
/** The slot of a key according to the servers. */
const slotOf = async (server: ValkeyServer | undefined, key: string) =>
  Number(await server?.command("CLUSTER", "KEYSLOT", key));
/** The error that a promise rejects with. */
const refusal = (promise: Promise<unknown>) => promise.then(() => "", String);

describe.skipIf(!hasValkey)("a Valkey server", () => {
  let server: ValkeyServer;
  beforeAll(async () => {
    server = await ValkeyServer.start();
    await server.command("ACL", "SETUSER", "shop", "on", ">pass", "~here", "+@all");
    await server.command("CONFIG", "SET", "requirepass", "se cret/ü");
  });
  afterAll(() => server.stop());

  const urlFor = (login: string, database = "") => `redis://${login}@127.0.0.1:${server.port}${database}`;
  const password = encodeURIComponent("se cret/ü");
  const withPassword = async (name: string, ...words: string[]) => {
    const client = new RedisClient(urlFor(`:${password}`));
    await client.send(name, words);
    client.close();
  };
  const flushScripts = () => withPassword("SCRIPT", "FLUSH");

  test("gets the password, user and database", async () => {
    const valkey = await connect(urlFor(`:${password}`, "/3"));
    await ask(valkey, "SET", "here", 1);
    const user = await connect(urlFor("shop:pass", "/3"));
    expect(await ask(user, "GET", "here")).toBe("1");
    expect(await refusal(ask(user, "GET", "there"))).toContain("access");
    const other = await connect(urlFor(`:${password}`));
    expect(await ask(other, "GET", "here")).toBeNull();
    for (const one of [valkey, user, other]) one.close();
  });

  test("that rejects the login counts as unreachable, and the error says why", async () => {
    const url = urlFor(":wrong");
    const valkey = await connect(url, 500);
    await eventually(async () => (await refusal(ask(valkey, "GET", "here"))).includes("WRONGPASS"));
    expect(await refusal(valkey.ping())).toContain("WRONGPASS");
    valkey.close();
  });

  test("that has lost the scripts gets them again", async () => {
    const valkey = await connect(urlFor(`:${password}`));
    await ask(valkey, "SET", "here", 1);
    const admin = await connect(urlFor(`:${password}`));
    await admin.run(script("return redis.call('SET', KEYS[1], 2)"), ["here"], []);
    await flushScripts();
    expect(await ask(valkey, "GET", "here")).toBe("2");
    for (const one of [valkey, admin]) one.close();
  });

  test("without the configured database is not used", async () => {
    const valkey = await connect(urlFor(`:${password}`, "/99"), 500);
    await eventually(async () => (await refusal(ask(valkey, "GET", "here"))).includes("DB index"));
    valkey.close();
  });

  test("needs the documented permissions, and no others", async () => {
    const rules = /`(~petstore:\* [^`]+)`/.exec(await Bun.file("docs/many-processes.md").text())?.[1] ?? "";
    await withPassword("ACL", "SETUSER", "limits", "reset", "on", ">pass", ...rules.split(" "));
    const process = await openProcess(urlFor("limits:pass", "/1"), { prefix: "petstore:", callTimeout: CALL_TIMEOUT });
    const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 10 });
    for (const verdict of ["admitted", "limited", "limited"] as const) {
      expect(await process.limiter.admit(caller)).toMatchObject({ verdict });
    }
    await process.limiter.limitStatus(caller);
    await process.limiter.admitAddress("192.0.2.1");
    await inspectValkey(parseValkeyUrl(urlFor("limits:pass", "/1")) as ValkeyAddress);
    expect(process.changes).toEqual([]);
    await process.close();
  });

  test("without AUTH support returns an error that does not contain the password", async () => {
    const strange = await ValkeyServer.start("--rename-command", "AUTH", "");
    const url = strange.url.replace("//", "//:hunter2@");
    const valkey = await connect(url, 500);
    const reason = await eventually(
      () => refusal(ask(valkey, "GET", "here")),
      (one) => one.includes("unknown command"),
    );
    expect(reason).not.toContain("hunter2");
    valkey.close();
    await strange.stop();
  });

  test("rejects pending commands when the connection is closed", async () => {
    const valkey = await connect(urlFor(`:${password}`));
    server.freeze();
    const asked = ask(valkey, "GET", "here");
    valkey.close();
    expect(await refusal(asked)).toContain("closed");
    expect(await refusal(ask(valkey, "GET", "here"))).toContain("closed");
    server.thaw();
  });
});

test("a server that speaks another protocol counts as unreachable, and the error says why", async () => {
  const other = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") },
  });
  const valkey = await connect(`redis://127.0.0.1:${other.port}`, 500);
  expect(await refusal(valkey.ping())).toMatch(/127\.0\.0\.1:[0-9]+: Unknown RESP type/);
  valkey.close();
  other.stop(true);
});

describe.skipIf(!hasValkey)("a Valkey cluster", () => {
  let cluster: ValkeyCluster;
  beforeAll(async () => {
    cluster = await ValkeyCluster.start();
  });
  afterAll(() => cluster.stop());

  test("can be reached through any one of its servers", async () => {
    const [first] = cluster.replicas;
    const valkey = await connect(`${first?.url}?cluster=true`);
    for (let index = 0; index < 50; index++) await ask(valkey, "SET", `key-${index}`, index);
    await valkey.ping();
    valkey.close();
  });

  test("that rejects the login counts as unreachable, and the error says why", async () => {
    const valkey = await connect(cluster.url.replace("//", "//nobody:hunter2@"), 500);
    const reason = await eventually(
      () => refusal(valkey.ping()),
      (one) => one.includes("WRONGPASS"),
    );
    expect(reason).toMatch(/127\.0\.0\.1:[0-9]+: WRONGPASS/);
    expect(reason).not.toContain("hunter2");
    valkey.close();
  });

  test("counts exactly while a slot moves from one master to another", async () => {
    const process = await openProcess(cluster.url, { prefix: "moving:", callTimeout: CALL_TIMEOUT });
    const slot = await slotOf(cluster.masters[0], "{acc_1}");
    const caller = callerOf("acc_1", "key_1", { perMinute: 1_000, perDay: 1_000 });
    const remaining = async (times: number) => {
      const answers = await Promise.all(Array.from({ length: times }, async () => process.limiter.admit(caller)));
      return answers.map((answer) => answer.remaining).toSorted((a, b) => b - a);
    };
    const [source, target, from, to] = await mastersFor(slot);

    expect(await remaining(2)).toEqual([999, 998]);
    await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from);
    await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to);
    // Its hash is still where it was; then it is at the other server, which is asked for it (ASK).
    expect(await remaining(2)).toEqual([997, 996]);
    await source.command("MIGRATE", "127.0.0.1", target.port, "moving:{acc_1}:test", 0, 1_000);
    expect(await remaining(2)).toEqual([995, 994]);
    for (const master of [target, source]) await master.command("CLUSTER", "SETSLOT", slot, "NODE", to);
    expect(await remaining(2)).toEqual([993, 992]); // where it is now (MOVED), and then known
    expect(process.changes).toEqual([]);
    await process.close();
  });

  test("serves a slot that is moving to a server that has none yet", async () => {
    const joining = await ValkeyServer.start("--cluster-enabled", "yes");
    const key = "{first}";
    const slot = await slotOf(cluster.masters[0], key);
    const [source, , from] = await mastersFor(slot);
    await joining.command("CLUSTER", "MEET", "127.0.0.1", source.port);
    const to = String(await joining.command("CLUSTER", "MYID"));
    await eventually(
      async () => [await source.command("CLUSTER", "NODES"), await joining.command("CLUSTER", "INFO")].map(String),
      ([nodes = "", info = ""]) => nodes.includes(to) && info.includes("cluster_state:ok"),
    );
    await joining.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from);
    await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to);
    const valkey = await connect(source.url.concat("?cluster=true"));
    const refreshes = async () =>
      Number(/cmdstat_cluster\|slots:calls=([0-9]+)/.exec(String(await source.command("INFO", "commandstats")))?.[1]);
    const before = await refreshes();
    const askAgain = async () => {
      for (let count = 0; count < 20; count++) expect(await ask(valkey, "GET", key)).toBeNull();
      return refreshes();
    };
    await eventually(askAgain, (count) => count >= before + 2);
    valkey.close();
    await source.command("CLUSTER", "SETSLOT", slot, "STABLE");
    await joining.stop();
  });

  /** The master that has a slot, another master, and the node ids of both. */
  async function mastersFor(slot: number): Promise<[ValkeyServer, ValkeyServer, string, string]> {
    const ids = await Promise.all(cluster.masters.map((master) => master.command("CLUSTER", "MYID")));
    const from = Math.floor(slot / Math.ceil(SLOTS / ids.length));
    const to = (from + 1) % ids.length;
    const [source, target] = [cluster.masters[from], cluster.masters[to]];
    return [source as ValkeyServer, target as ValkeyServer, String(ids[from]), String(ids[to])];
  }
});
