// The proxy in front of two processes on one host.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { payloadTooLarge } from "../../src/contract/errors.ts";
import { freePort } from "../harness/free-port.ts";
import { newKeyIn } from "../harness/keys.ts";
import { Load } from "../harness/load.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";
import { faultsWith, hasNginx, Proxy } from "./proxy.ts";

/** The requests of a load during which processes are restarted, and their connections. */
const REQUESTS = 18_000;
const CONNECTIONS = 32;
/** The accounts that send them. nginx passes on at most 500 requests of a key per second. */
const KEYS = 4;

test.skipIf(!hasNginx).each(["deploy/proxy/petstore-upstream.conf", "deploy/compose/petstore-upstream.conf"])(
  "nginx takes its configuration with %s",
  (upstream) => {
    expect(faultsWith(upstream)).toBe("");
  },
);

describe.skipIf(!hasNginx || postgresMissing !== undefined)("behind the proxy", () => {
  const dataDir = newDataDir();
  const processes: Program[] = [];
  let settings: Record<string, string>[];
  let proxy: Proxy;
  const keys: string[] = [];
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const ports = [freePort(), freePort(), freePort()] as const;
    settings = ports.slice(1).map((port) => ({
      PETSTORE_PORT: String(port),
      PETSTORE_DATABASE_URL: server.url(),
      PETSTORE_BASE_URL: `http://127.0.0.1:${ports[0]}/v1`,
      PETSTORE_TRUSTED_PROXIES: "127.0.0.1",
      PETSTORE_ENV: "production",
    }));
    for (const setting of settings) processes.push(await Program.start(dataDir, setting));
    proxy = await Proxy.nginx(ports[0], [ports[1], ports[2]]);
    while (keys.length < KEYS) {
      keys.push((await newKeyIn(dataDir, { quota: unlimitedQuota, settings: settings[0] })).key);
    }
  });
  afterAll(async () => {
    await proxy.stop();
    await Promise.all(processes.map((process) => process.end()));
    await server.remove();
  });

  const list = (key = keys[0]) =>
    fetch(`${proxy.origin}/v1/pets?limit=3`, { headers: { Authorization: `Bearer ${key}` } });
  const add = (name: string, key = keys[0]) =>
    fetch(`${proxy.origin}/v1/pets`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ name, categoryId: 1 }),
    });

  test("the API and the page are there, what is for operators is not", async () => {
    expect((await list()).status).toBe(200);
    expect((await fetch(`${proxy.origin}/docs`)).status).toBe(200);
    for (const path of ["/metrics", "/healthz", "/readyz"]) {
      const response = await fetch(proxy.origin + path);
      expect([path, response.status, response.headers.get("server")]).toEqual([path, 404, "nginx"]);
    }
  });

  test("an import arrives that nginx keeps in a file until it has all of it", async () => {
    const animals = Array.from({ length: 500 }, (_, at) => ({ name: `Animal ${at} ${"x".repeat(80)}`, categoryId: 1 }));
    const response = await fetch(`${proxy.origin}/v1/pets/import`, {
      method: "POST",
      headers: { Authorization: `Bearer ${keys[0]}`, "Content-Type": "application/json" },
      body: JSON.stringify({ animals }),
    });
    const added = (await response.json()) as { animals?: unknown[] };
    expect([response.status, added.animals?.length]).toEqual([201, 500]);
  });

  test("a body that is too large is refused in the words of the service", async () => {
    const { code, status } = payloadTooLarge;
    for (const length of [65_536, 2_000_000]) {
      const response = await add("x".repeat(length));
      expect([response.status, await response.json()]).toEqual([status, { code, status, message: expect.any(String) }]);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test(`each process is restarted under load, again and again, and none of ${REQUESTS} requests fails`, async () => {
    const statuses = new Map<number, number>();
    let served = 0;
    const load = new Load(
      CONNECTIONS,
      async (connection) => {
        const key = keys[connection % KEYS] ?? "";
        const { status } = served % 2 === 0 ? await list(key) : await add(`Rolling ${connection}`, key);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        served++;
      },
      0,
    );
    const isEnough = () => served >= REQUESTS;
    for (let round = 0; !isEnough(); round++) {
      const index = round % processes.length;
      const before = served;
      await eventually(() => served > before + REQUESTS / 20);
      expect(await processes[index]?.end()).toBe(0);
      const next = await Program.start(dataDir, settings[index]);
      processes[index] = next;
      await next.until(() => next.output.includes('"event":"request"')); // the proxy has found it
    }
    await load.end();
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    const [stored] = await server.run<{ count: string }>("SELECT count(*) FROM pets WHERE name LIKE 'Rolling%'");
    expect(Number(stored?.count)).toBe(statuses.get(201) as number);
  });
});

/** Passes requests on to a process. While it breaks connections, the process carries them out, and no response comes. */
class Breaker {
  isBreaking = false;
  /** Requests without a response. */
  broken = 0;
  readonly #server: Server;

  static async start(port: number): Promise<Breaker> {
    const breaker = new Breaker(port);
    await once(breaker.#server.listen(0, "127.0.0.1"), "listening");
    return breaker;
  }

  private constructor(port: number) {
    this.#server = createServer((asked, response) => {
      const { method, url, headers } = asked;
      const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
        if (this.isBreaking) {
          this.broken++;
          answer.resume();
          asked.socket.destroy();
        } else answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      });
      asked.pipe(onward);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
const jsonOf = async (response: Response): Promise<any> => response.json();

describe.skipIf(!hasNginx)("if a process has carried out a request and its connection breaks, the proxy", () => {
  let program: Program;
  let breaker: Breaker;
  let proxy: Proxy;
  let key: string;

  beforeAll(async () => {
    const [port, dataDir] = [freePort(), newDataDir()];
    program = await Program.start(dataDir, { PETSTORE_BASE_URL: `http://127.0.0.1:${port}/v1` });
    breaker = await Breaker.start(program.port);
    proxy = await Proxy.nginx(port, [breaker.port, program.port]);
    ({ key } = await newKeyIn(dataDir, { quota: unlimitedQuota }));
  });
  afterAll(async () => {
    await proxy.stop();
    breaker.stop();
    await program.end();
  });

  const send = (origin: string, method: string, path: string, body?: object) =>
    fetch(`${origin}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
  const direct = async (method: string, path: string, body?: object) =>
    jsonOf(await send(`http://127.0.0.1:${program.port}`, method, path, body));

  /** Repeats a request, each time for a new animal, until one was broken. Returns that animal and the response. */
  const broken = async (method: string, body?: object) => {
    for (;;) {
      const { id } = await direct("POST", "/pets", { name: "Rex", categoryId: 1 });
      const before = breaker.broken;
      breaker.isBreaking = true;
      const response = await send(proxy.origin, method, `/pets/${id}`, body);
      breaker.isBreaking = false;
      if (breaker.broken > before) return { id, response };
    }
  };

  test("repeats a GET at another one", async () => {
    expect((await broken("GET")).response.status).toBe(200);
  });

  test("repeats a DELETE, which then returns 404 for the animal that it has deleted", async () => {
    const { id, response } = await broken("DELETE");
    expect([response.status, (await jsonOf(response)).code]).toEqual([404, "pet_not_found"]);
    expect(await direct("GET", `/events?type=pet.deleted&petId=${id}`)).toHaveLength(1);
  });

  test("repeats no PATCH and returns 503", async () => {
    const { id, response } = await broken("PATCH", { name: "Ida" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBe("Retry-After, X-Request-Id");
    expect(await direct("GET", `/events?type=pet.updated&petId=${id}`)).toHaveLength(1);
  });

  test("repeats no POST and returns 503", async () => {
    let sent = 0;
    let response: Response;
    const before = breaker.broken;
    breaker.isBreaking = true;
    do response = await send(proxy.origin, "POST", "/pets", { name: `Only once ${++sent}`, categoryId: 1 });
    while (breaker.broken === before);
    breaker.isBreaking = false;
    expect([response.status, (await jsonOf(response)).code]).toEqual([503, "storage_unavailable"]);
    expect(await direct("GET", `/pets?name=Only%20once%20${sent}`)).toHaveLength(1);
  });
});
