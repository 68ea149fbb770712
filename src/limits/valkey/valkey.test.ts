// What a server or cluster is asked, over real connections.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../../test/harness/program.ts";
import { hasValkey, ValkeyCluster, ValkeyServer } from "../../../test/harness/valkey-server.ts";
import { callerOf } from "../limiter-model.ts";
import { openProcess } from "./process-under-test.ts";
import { encodeCommand } from "./resp.ts";
import { connectValkey, type Valkey } from "./valkey.ts";
import { slotOf } from "./valkey-cluster.ts";
import { parseValkeyUrl, type ValkeyAddress } from "./valkey-url.ts";

/** Longer than a busy machine needs, in milliseconds. */
const PATIENCE = 30_000;
const SLOTS = 16_384;

const connect = (url: string) => connectValkey(parseValkeyUrl(url) as ValkeyAddress, PATIENCE);
const ask = (valkey: Valkey, name: string, ...words: (string | number)[]) =>
  valkey.ask(String(words[0]), encodeCommand(name, ...words));
/** What a promise is rejected with. */
const refusal = (promise: Promise<unknown>) => promise.then(() => "", String);

describe.skipIf(!hasValkey)("a server", () => {
  let server: ValkeyServer;
  beforeAll(async () => {
    server = await ValkeyServer.start();
    await server.command("ACL", "SETUSER", "shop", "on", ">pass", "~*", "+@all");
    await server.command("CONFIG", "SET", "requirepass", "se cret/ü");
  });
  afterAll(() => server.stop());

  const urlFor = (login: string, database = "") => `redis://${login}@127.0.0.1:${server.port}${database}`;
  const password = encodeURIComponent("se cret/ü");

  test("is told password, user and database", async () => {
    const valkey = await connect(urlFor(`:${password}`, "/3"));
    await ask(valkey, "SET", "here", 1);
    const user = await connect(urlFor("shop:pass", "/3"));
    expect(await ask(user, "GET", "here")).toBe("1");
    expect(await ask(user, "ACL", "WHOAMI")).toBe("shop");
    const other = await connect(urlFor(`:${password}`));
    expect(await ask(other, "GET", "here")).toBeNull();
    for (const one of [valkey, user, other]) one.close();
  });

  test("that refuses the login is as good as away, and it is said why", async () => {
    const url = urlFor(":wrong");
    const valkey = await connectValkey(parseValkeyUrl(url) as ValkeyAddress, 500);
    await eventually(
      () => refusal(ask(valkey, "GET", "here")),
      (reason) => reason.includes("WRONGPASS"),
    );
    expect(await refusal(valkey.ping())).toContain("WRONGPASS");
    valkey.close();
  });

  test("gets all of what does not go out at once, and each answer finds whoever asked", async () => {
    const valkey = await connect(urlFor(`:${password}`));
    const filling = "x".repeat(2_000);
    server.freeze(); // so that the system's buffers fill up
    const asked = Array.from({ length: 20_000 }, (_, index) => ask(valkey, "ECHO", `${index} ${filling}`));
    await Bun.sleep(0);
    server.thaw();
    const answers = await Promise.all(asked);
    expect(answers.every((answer, index) => answer === `${index} ${filling}`)).toBe(true);
    valkey.close();
  });

  test("needs to allow what is documented, and nothing else", async () => {
    const rules = /`(~petstore:\* [^`]+)`/.exec(await Bun.file("docs/operating.md").text())?.[1] ?? "";
    const admin = await connect(urlFor(`:${password}`));
    await ask(admin, "ACL", "SETUSER", "limits", "reset", "on", ">pass", ...rules.split(" "));
    const process = await openProcess(urlFor("limits:pass", "/1"), { place: "petstore:", patience: PATIENCE });
    const caller = callerOf("acc_1", "key_1", { perMinute: 1, perDay: 10 });
    for (const verdict of ["admitted", "limited", "limited"] as const) {
      expect(await process.limiter.admit(caller)).toMatchObject({ verdict });
    }
    await process.limiter.peek(caller);
    await process.limiter.admitAddress("192.0.2.1");
    expect(process.changes).toEqual([]);
    await process.close();
    admin.close();
  });

  test("without a login is told none, and quotes no password", async () => {
    const strange = await ValkeyServer.start("--rename-command", "AUTH", "");
    const url = strange.url.replace("//", "//:hunter2@");
    const valkey = await connectValkey(parseValkeyUrl(url) as ValkeyAddress, 500);
    const reason = await eventually(
      () => refusal(ask(valkey, "GET", "here")),
      (one) => one.includes("AUTH"),
    );
    expect(reason).not.toContain("hunter2");
    valkey.close();
    await strange.stop();
  });

  test("that is not asked any more leaves nobody waiting", async () => {
    const valkey = await connect(urlFor(`:${password}`));
    server.freeze();
    const asked = ask(valkey, "GET", "here");
    valkey.close();
    expect(await refusal(asked)).toContain("closed");
    expect(await refusal(ask(valkey, "GET", "here"))).toContain("closed");
    server.thaw();
  });
});

/** Answers each piece that arrives by the next of the texts, and then by the last one. `PORT` in them is its own. */
function answering(...texts: [string, ...string[]]): { port: number; stop: () => void } {
  const rest = [...texts];
  const next = () => (rest.length > 1 ? rest.shift() : rest[0]) ?? "";
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.write(next().replace("PORT", String(server.port))) },
  });
  return { port: server.port, stop: () => server.stop(true) };
}

const PONG = "+PONG\r\n";
const soon = (port: number, query = "") =>
  connectValkey(parseValkeyUrl(`redis://127.0.0.1:${port}${query}`) as ValkeyAddress, 500);

describe("a server that is none", () => {
  test.each([
    ["speaks another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n", "not of its protocol"],
    ["tells a length that is no number", "$abc\r\n", "not of its protocol"],
    ["never comes to an end", `$999999999\r\n${"x".repeat(2_000_000)}`, "not of its protocol"],
    ["says more than it is asked", PONG + PONG, "what it was not asked"],
  ])("and %s is not asked", async (_what, text, reason) => {
    const { port, stop } = answering(text);
    const valkey = await soon(port);
    await eventually(
      () => refusal(valkey.ping()),
      (one) => one.includes(reason),
    );
    valkey.close();
    stop();
  });

  test("and says what it was not asked later on gets nobody a wrong answer", async () => {
    const { port, stop } = answering(PONG, ":1\r\n:2\r\n", PONG, ":3\r\n");
    const valkey = await soon(port);
    expect(await ask(valkey, "GET", "a")).toBe(1);
    await eventually(
      () => ask(valkey, "GET", "b").catch(() => undefined),
      (answer) => answer === 3, // over a new connection
    );
    valkey.close();
    stop();
  });

  test("and sends commands to where nobody can be is as good as away", async () => {
    const { port, stop } = answering(
      PONG,
      "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$-1\r\n:PORT\r\n",
      "-MOVED 1 nowhere:99999\r\n",
    );
    const valkey = await soon(port, "?cluster=true");
    expect(await refusal(ask(valkey, "GET", "a"))).toContain("nowhere:99999");
    valkey.close();
    stop();
  });
});

describe.skipIf(!hasValkey)("a cluster", () => {
  let cluster: ValkeyCluster;
  beforeAll(async () => {
    cluster = await ValkeyCluster.start();
  });
  afterAll(() => cluster.stop());

  test("has each key in the slot that it says itself", async () => {
    for (const key of ["", "key", "petstore:{acc_1}:windows", "a{}b", "a{}b{c}", "{größe}", "{a}{b}", "}{x}"]) {
      expect([key, slotOf(key)]).toEqual([key, Number(await cluster.masters[0]?.command("CLUSTER", "KEYSLOT", key))]);
    }
  });

  test("can be asked by the name of any one of its servers", async () => {
    const [first] = cluster.replicas;
    const valkey = await connect(`${first?.url}?cluster=true`);
    for (let index = 0; index < 50; index++) await ask(valkey, "SET", `key-${index}`, index);
    await valkey.ping();
    valkey.close();
  });

  test("counts exactly while a slot moves from one master to another", async () => {
    const process = await openProcess(cluster.url, { place: "moving:", patience: PATIENCE });
    const slot = slotOf("{192.0.2.1}");
    const names = Array.from({ length: 500_000 }, (_, index) => `acc_${index}`);
    const account = names.find((name) => slotOf(`{${name}}`) === slot) ?? "";
    const caller = callerOf(account, "key_1", { perMinute: 1_000, perDay: 1_000 });
    const remaining = async (times: number) => {
      const answers = await Promise.all(Array.from({ length: times }, async () => process.limiter.admit(caller)));
      return answers.map((answer) => answer.remaining).toSorted((a, b) => b - a);
    };
    const [source, target, from, to] = await move(slot);

    expect(await remaining(2)).toEqual([999, 998]);
    await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from);
    await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to);
    // The one key of an address is not there yet: the other server is asked (ASK).
    expect(await process.limiter.admitAddress("192.0.2.1")).toMatchObject({ verdict: "admitted", remaining: 59 });
    // One of an account's two keys is there: asked again until all is moved (TRYAGAIN).
    const waiting = remaining(2);
    await source.command("MIGRATE", "127.0.0.1", target.port, `moving:{${account}}:windows`, 0, 1_000);
    await eventually(
      async () =>
        Number(/errorstat_TRYAGAIN:count=([0-9]+)/.exec(String(await target.command("INFO", "errorstats")))?.[1]),
      (count) => count > 20,
    );
    for (const master of [target, source]) await master.command("CLUSTER", "SETSLOT", slot, "NODE", to);
    expect(await waiting).toEqual([997, 996]);
    expect(await remaining(2)).toEqual([995, 994]); // where it is now (MOVED), and then known
    expect(await process.limiter.admitAddress("192.0.2.1")).toMatchObject({ verdict: "admitted", remaining: 58 });
    expect(process.changes).toEqual([]);
    await process.close();
  });

  test("asks a new server for its first slot, which nobody knows yet", async () => {
    const joining = await ValkeyServer.start("--cluster-enabled", "yes");
    const key = "{first}";
    const [source, , from] = await move(slotOf(key));
    await joining.command("CLUSTER", "MEET", "127.0.0.1", source.port);
    const to = String(await joining.command("CLUSTER", "MYID"));
    await eventually(
      async () => [await source.command("CLUSTER", "NODES"), await joining.command("CLUSTER", "INFO")].map(String),
      ([nodes = "", info = ""]) => nodes.includes(to) && info.includes("cluster_state:ok"),
    );
    await joining.command("CLUSTER", "SETSLOT", slotOf(key), "IMPORTING", from);
    await source.command("CLUSTER", "SETSLOT", slotOf(key), "MIGRATING", to);
    const valkey = await connect(source.url.concat("?cluster=true"));
    const refreshes = async () =>
      Number(/cmdstat_cluster\|slots:calls=([0-9]+)/.exec(String(await source.command("INFO", "commandstats")))?.[1]);
    const before = await refreshes();
    while ((await refreshes()) < before + 2) {
      for (let count = 0; count < 20; count++) expect(await ask(valkey, "GET", key)).toBeNull();
    }
    valkey.close();
    await source.command("CLUSTER", "SETSLOT", slotOf(key), "STABLE");
    await joining.stop();
  });

  /** The master that has a slot and another one, with the names that they have in the cluster. */
  async function move(slot: number): Promise<[ValkeyServer, ValkeyServer, string, string]> {
    const ids = await Promise.all(cluster.masters.map((master) => master.command("CLUSTER", "MYID")));
    const from = Math.floor(slot / Math.ceil(SLOTS / ids.length));
    const to = (from + 1) % ids.length;
    const [source, target] = [cluster.masters[from], cluster.masters[to]];
    return [source as ValkeyServer, target as ValkeyServer, String(ids[from]), String(ids[to])];
  }
});
