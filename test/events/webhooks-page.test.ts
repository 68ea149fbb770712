// docs/webhooks.md: its receiver takes what the service sends, and nothing else.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/timing/clock.ts";
import { freePort } from "../harness/free-port.ts";
import { ManualClock } from "../harness/manual-clock.ts";
import { eventually } from "../harness/program.ts";
import { WebhookService } from "../harness/webhook-service.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/webhooks.md"), "utf8");
const receiver = /```js\n([^]*?)```/.exec(page)?.[1] ?? "";

let webhooks: WebhookService;
beforeAll(async () => {
  // The receiver compares times with its own clock.
  webhooks = await WebhookService.start({}, { clock: new ManualClock(systemClock.now()) });
});
afterAll(() => webhooks.stop());

test("the receiver of the page takes what is signed and refuses what is forged", async () => {
  const port = freePort();
  const { id, secret } = await webhooks.endpoint({ port });
  const file = join(mkdtempSync(join(tmpdir(), "petstore-page-")), "receiver.mjs");
  writeFileSync(file, receiver);
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = Bun.spawn(["node", file], { env, stdout: "pipe", stderr: "inherit" });
  let output = "";
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text;
  })();
  await eventually(() => output.includes("listening"));
  await webhooks.addPet();
  await webhooks.call("POST", `/webhook-endpoints/${id}/test`);
  await webhooks.deliver();
  await eventually(() => output.includes("pet.created") && output.includes("webhook_endpoint.test"));
  const outcomes = (await webhooks.deliveries(id)).map(({ outcome, status }) => [outcome, status]);
  expect(outcomes).toEqual([
    ["succeeded", 204],
    ["succeeded", 204],
  ]);
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(systemClock.now() / 1000)),
    "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
  };
  const forged = await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body: "{}" });
  expect(forged.status).toBe(400);
  child.kill();
  await reading;
});
