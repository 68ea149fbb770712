// `petstore listen` next to a running service. It knows only the service's address and a key.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { verifyWebhook } from "../../../../client/src/index.ts";
import { contextOf } from "../../../../test/harness/commands.ts";
import { startEventServer } from "../../../../test/harness/event-server.ts";
import { eventually, newDataDir, Program, runCommand } from "../../../../test/harness/program.ts";
import { TestService } from "../../../../test/harness/service.ts";
import { Receiver } from "../../../../test/harness/webhooks.ts";
import { run } from "../../../cli/run.ts";

const command = (...words: string[]) => [process.execPath, `${import.meta.dir}/../../../main.ts`, "listen", ...words];

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());
const toStop: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop();
});

function receiver(respond?: () => Response): Receiver {
  const started = new Receiver(respond ? { respond } : {});
  toStop.push(() => started.stop());
  return started;
}

/** Starts the command and waits until it follows the events. */
async function listen({ port }: { readonly port: number }, base: string, words: readonly string[] = [], secret = "") {
  const proxy = "http://127.0.0.1:9"; // not used for this machine
  const settings = { PETSTORE_KEY: key, PETSTORE_URL: base, PETSTORE_WEBHOOK_SECRET: secret, HTTP_PROXY: proxy };
  const all = command("--forward", `http://127.0.0.1:${port}/hook`, ...words);
  const program = new Program(newDataDir(), settings, all);
  toStop.push(() => program.end());
  await program.until(() => program.output.includes("Following") || program.child.exitCode !== null);
  return program;
}

const all = (one: Receiver, count: number) =>
  eventually(
    async () => one.received,
    (received) => received.length >= count,
  );
const addPet = (name: string) =>
  service.call("POST", "/pets", { key, body: `{"name":"${name}","categoryId":9223372036854775807}` });

describe("petstore listen", () => {
  test("forwards each event, signed with the secret that it prints, digit for digit", async () => {
    const taking = receiver();
    const program = await listen(taking, service.app.base);
    const [, secret = ""] = /^Secret: (whsec_\S+)$/m.exec(program.output) ?? [];
    const [, publicKey = ""] = /^Public key: (whpk_\S+)$/m.exec(program.output) ?? [];
    await addPet("Rex");
    await addPet("Ida");
    const received = await all(taking, 2);
    for (const [index, { headers, body, path }] of received.entries()) {
      expect(path).toBe("/hook");
      await verifyWebhook(body, headers, secret);
      await verifyWebhook(body, headers, publicKey);
      const { id, type, mode, data } = JSON.parse(body);
      expect([id, type, mode, data.data.name]).toEqual([
        headers.get("webhook-id"),
        "pet.created",
        "test",
        ["Rex", "Ida"][index],
      ]);
      expect(body).toContain('"categoryId":9223372036854775807');
    }
    await program.until(() => program.output.includes("2 pet.created 200"));
    expect(await program.end()).toBe(0);
  });

  test("prints the status of a rejected message, starts after a given event, and uses a given secret", async () => {
    const failing = receiver(() => new Response(null, { status: 500 }));
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const words = ["--after", "1", "--types", "pet.created"];
    const program = await listen(failing, service.app.base, words, ` ${secret}\n`); // pasted
    await program.until(() => program.output.includes("2 pet.created 500"));
    expect(program.output).toContain(`Secret: ${secret}\n`);
    const [{ headers, body } = { headers: new Headers(), body: "" }] = failing.received;
    await verifyWebhook(body, headers, secret);
    expect(JSON.parse(body).data.id).toBe(2);
  });

  test("prints only JSON on standard output with --json, and nothing on standard error", async () => {
    const server = startEventServer([{ events: [1, 2], stays: true }]);
    toStop.push(() => server.stop());
    const taking = receiver();
    const stop = new AbortController();
    const settings = { PETSTORE_KEY: key, PETSTORE_URL: server.base };
    const { context, output } = contextOf(newDataDir(), settings, stop);
    const ended = run(["listen", "--forward", `http://127.0.0.1:${taking.port}/hook`, "--json"], context);
    const lines = await eventually(
      async () => output.stdout.split("\n").filter(Boolean),
      ({ length }) => length >= 4,
    );
    stop.abort();
    expect([await ended, output.stderr]).toEqual([0, ""]);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { secret: expect.stringMatching(/^whsec_/), publicKey: expect.stringMatching(/^whpk_/) },
      { message: expect.stringContaining("Following") },
      { id: 1, type: "pet.created", status: 200 },
      { id: 2, type: "pet.created", status: 200 },
    ]);
  });

  test("reconnects when the stream ends or fails, without missing or repeating events", async () => {
    const taking = receiver();
    const server = startEventServer([
      { events: [1, 2] },
      { status: 503 },
      { events: [3], breaksOff: true },
      { events: [4], stays: true },
    ]);
    toStop.push(() => server.stop());
    const program = await listen(taking, server.base);
    await program.until(() => program.output.includes("4 pet.created 200"));
    expect(taking.received.map(({ body }) => JSON.parse(body).data.id)).toEqual([1, 2, 3, 4]);
    expect(server.resumedAt).toEqual([null, "2", "2", "3"]);
    expect(program.output).toContain("streamEvents, attempt 1: 503 not_ready");
    expect(new Set(server.keys)).toEqual(new Set([`Bearer ${key}`]));
  });

  test("sends each event on a new connection, because one that was kept may be half open", async () => {
    let received = 0;
    const halfOpen = createServer((socket) => {
      // After one response it is silent, as behind a NAT that has forgotten the connection.
      socket.once("data", () => {
        received++;
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      });
      socket.on("error", () => {});
    }).listen(0, "127.0.0.1");
    await once(halfOpen, "listening");
    toStop.push(() => halfOpen.close());
    const program = await listen(halfOpen.address() as AddressInfo, service.app.base);
    for (const count of [1, 2]) {
      await addPet("Rex");
      await program.until(() => program.output.split("pet.created 200").length > count);
    }
    expect(received).toBe(2);
  });

  test.each([
    [{ PETSTORE_KEY: "" }, ["--forward", "http://127.0.0.1:1/"], 1, "Set PETSTORE_KEY"],
    [{ PETSTORE_KEY: "psk_live_x" }, ["--forward", "http://127.0.0.1:1/"], 1, "must be a test key"],
    [{ PETSTORE_KEY: "psk_test_x" }, ["--forward", "http://127.0.0.1:1/"], 1, "API key"],
    [{}, ["--forward", "127.0.0.1:3000"], 2, "--forward must be an http or https URL"],
    [{ PETSTORE_WEBHOOK_SECRET: "whsec_eA==" }, ["--forward", "http://127.0.0.1:1/"], 1, "SECRET must be a secret"],
    [{}, ["--forward", "http://127.0.0.1:1/", "--after", "x"], 2, "--after must be the id"],
    [{}, [], 2, "needs --forward"],
  ])("with %j and %j ends with an error", async (settings, words, expected, message) => {
    const environment = { PETSTORE_KEY: key, PETSTORE_URL: service.app.base, ...settings };
    const { status, stderr } = await runCommand(newDataDir(), ["listen", ...words], environment);
    expect([status, stderr]).toEqual([expected, expect.stringContaining(message)]);
  });
});
