// The snippets of docs/following-events.md, with curl, Node's fetch (undici) and a browser.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { readStream } from "../harness/server-sent-events.ts";
import { TestService } from "../harness/service.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/following-events.md"), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"))].map(([, block = ""]) => block);
const [poll = "", stream = ""] = blocks("sh");
const [snippet = ""] = blocks("js");

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  const { account, key: own } = await service.newAccountWithKey("enterprise");
  key = own;
  const shop = await service.shop(account.id);
  // Events of the key itself are not shown on the page.
  await service.store.run(
    `DELETE FROM events WHERE shop = ${shop}; UPDATE shops SET last_event_id = 0 WHERE shop = ${shop};`,
  );
  for (let count = 0; count < 2; count++) await add();
  await service.call("PATCH", "/pets/1", { key, body: { status: "available" } });
  await service.call("POST", "/store/orders", { key, body: { petId: 1 } });
});
afterAll(() => service.stop());

const add = () => service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });

/** Runs a command of the page against the service of the test. */
function run(command: string) {
  const text = command.replaceAll("http://127.0.0.1:8080/v1", service.app.base);
  return Bun.spawn(["sh", "-c", `exec ${text.trim()}`], { env: { ...process.env, KEY: key }, stderr: "ignore" });
}

/** The page's function, and a call that resolves with the ids and types that it gives after the third event. */
const program = () => `${snippet}
    const two = () => new Promise((resolve, reject) => {
      const seen = [];
      follow(${JSON.stringify(`${service.app.base}/events/stream`)}, ${JSON.stringify(key)}, "3", ({ id, type }) => {
        if (seen.length < 2 && seen.push([id, type]) === 2) resolve(seen);
      }).then(() => reject(new Error("ended")), reject);
    });`;

describe("docs/following-events.md", () => {
  test("polls with curl", async () => {
    const events = (await new Response(run(`${poll.trim()} -s`).stdout).json()) as { type: string }[];
    expect(events.map(({ type }) => type)).toEqual(["order.placed"]);
  });

  test("follows the stream with curl", async () => {
    const curl = run(stream);
    let text = "";
    const decoder = new TextDecoder();
    let added = 0;
    for await (const bytes of curl.stdout) {
      text += decoder.decode(bytes, { stream: true });
      const { events } = readStream(text);
      if (events.length === 5 + added && added < 2) {
        added++;
        await add();
      } else if (events.length >= 7) break;
    }
    curl.kill();
    await curl.exited;
    expect(readStream(text).events.map(({ id, event }) => [id, event])).toEqual([
      ["1", "pet.created"],
      ["2", "pet.created"],
      ["3", "pet.updated"],
      ["4", "order.placed"],
      ["5", "pet.updated"],
      ["6", "pet.created"],
      ["7", "pet.created"],
    ]);
  });

  const expected = [
    [4, "order.placed"],
    [5, "pet.updated"],
  ];

  test("follows the stream with Node's fetch", async () => {
    const node = Bun.spawn(
      ["node", "--input-type=module", "-e", `${program()} console.log(JSON.stringify(await two())); process.exit()`],
      { stderr: "inherit" },
    );
    expect(await new Response(node.stdout).json()).toEqual(expected);
  });

  test("returns the last id, also of a comment, when the stream ends", async () => {
    await using server = Object.assign(
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: () => new Response("retry: 1000\nid: 3\nid: 9\n: nothing new\n"),
      }),
      {
        async [Symbol.asyncDispose]() {
          await server.stop(true);
        },
      },
    );
    const call = `${snippet} console.log(await follow(${JSON.stringify(server.url.href)}, "key", "3", () => {}));`;
    const node = Bun.spawn(["node", "--input-type=module", "-e", call], { stderr: "inherit" });
    expect(await new Response(node.stdout).text()).toBe("9\n");
  });

  test.skipIf(!hasBrowser)("follows the stream in a browser, on another site", async () => {
    await using site = Object.assign(Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") }), {
      async [Symbol.asyncDispose]() {
        await site.stop(true);
      },
    });
    const browser = await TestBrowser.start();
    try {
      const open = await browser.open(site.url.href);
      expect(await open.evaluate(`(() => { ${program()} return two(); })()`)).toEqual(expected);
    } finally {
      await browser.stop();
    }
  });
});
