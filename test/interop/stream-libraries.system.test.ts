// The stream of events with libraries for server-sent events, over a connection that breaks in the middle of an event.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { Listener } from "../harness/listener.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

/* oxlint-disable typescript/no-explicit-any -- a page has what its library puts there */

const isInstalled = hasInteropTools();

let service: TestService;
let proxy: DatabaseProxy;
let key: string;
let url: string;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  key = (await service.newAccountWithKey("enterprise")).key;
  proxy = await DatabaseProxy.start(service.app.port); // it passes on any bytes
  url = `http://127.0.0.1:${proxy.port}/v1/events/stream`;
});
afterEach(() => proxy.stop());
afterAll(() => service.stop());

const add = (name: string) => service.call("POST", "/pets", { key, body: { name, categoryId: 1 } });

/** Adds an animal and breaks the connection within the data of its event. */
async function addAndCut(name: string) {
  proxy.cutBefore = `"name":"${name}"`;
  await add(name);
  await eventually(() => proxy.cutBefore === undefined);
}

test.skipIf(!isInstalled || !hasBrowser)("event-source-polyfill resumes in a browser", async () => {
  const script = Bun.file(join(interopFolder, "node_modules/event-source-polyfill/src/eventsource.min.js"));
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/": new Response("<script src=/eventsource.js></script>", { headers: { "Content-Type": "text/html" } }),
      "/eventsource.js": new Response(script),
    },
  });
  const browser = await TestBrowser.start();
  try {
    const page = await browser.open(site.url.href);
    await page.evaluate(
      ([address, bearer]) => {
        const { EventSourcePolyfill } = globalThis as any;
        const names: string[] = ((globalThis as any).names = []);
        const source = new EventSourcePolyfill(address, { headers: { Authorization: `Bearer ${bearer}` } });
        source.addEventListener("pet.created", ({ data }: { data: string }) => names.push(JSON.parse(data).data.name));
      },
      [`${url}?after=0`, key],
    );
    const names = () => page.evaluate(() => (globalThis as any).names as string[]);
    await add("before");
    await eventually(names, ({ length }) => length === 1);
    await addAndCut("cut off");
    await add("after");
    expect(await eventually(names, ({ length }) => length === 3)).toEqual(["before", "cut off", "after"]);
    expect(browser.requests.filter((address) => address.includes("?after=0&lastEventId="))).toHaveLength(1);
  } finally {
    await browser.stop();
    await site.stop(true);
  }
});

test.skipIf(!isInstalled)("@microsoft/fetch-event-source resumes, and gets no message without data", async () => {
  const program = `
    const nothing = () => {};
    globalThis.window = globalThis;
    globalThis.document = { hidden: false, addEventListener: nothing, removeEventListener: nothing };
    const { fetchEventSource } = await import("${interopFolder}/node_modules/@microsoft/fetch-event-source/lib/cjs/index.js");
    await fetchEventSource(${JSON.stringify(url)}, {
      headers: { Authorization: ${JSON.stringify(`Bearer ${key}`)} },
      onopen: async ({ status }) => console.log(status),
      onmessage: ({ data }) => console.log(JSON.parse(data).data.name),
      onerror: ({ name }) => console.log(name),
    });`;
  const node = Bun.spawn(["node", "--input-type=module", "-e", program], { stdout: "pipe", stderr: "inherit" });
  let said = "";
  const reading = (async () => {
    for await (const bytes of node.stdout) said += new TextDecoder().decode(bytes);
  })();
  const other = await Listener.open(`${service.app.base}/events/stream`, key);
  try {
    await eventually(() => said === "200\n");
    await eventually(() => {
      service.clock.advance(15_000);
      return other.state.comments.length > 0; // both have been sent one
    });
    await addAndCut("cut off");
    await add("after");
    await eventually(() => said.includes("after"));
    expect(said.split("\n")).toEqual(["200", "TypeError", "200", "cut off", "after", ""]);
  } finally {
    other.close();
    node.kill();
    await reading;
  }
});
