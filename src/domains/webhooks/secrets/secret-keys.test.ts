import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { metric } from "../../../../test/harness/metrics.ts";
import { WebhookService } from "../../../../test/harness/webhook-service.ts";
import { parseSecretKeys } from "../webhooks.settings.ts";
import { openSecretKeys, SecretKeys } from "./secret-keys.ts";

const random = () => randomBytes(32).toString("base64");

describe("secret keys", () => {
  const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];

  test("are found by their ids while they are listed, in any order", () => {
    const { id } = new SecretKeys(first).current;
    expect(new SecretKeys(second, first).find(id)?.bytes).toEqual(first);
    expect(new SecretKeys(second, first).current.bytes).toEqual(second);
    expect(new SecretKeys(second, third).find(id)).toBeUndefined();
  });

  test("have ids that reveal nothing about them", () => {
    const { id, bytes } = new SecretKeys(first).current;
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(Buffer.from(bytes).toString("hex")).not.toContain(id.slice(0, 6));
  });

  test("do not exist without a setting and a folder", () => {
    expect(openSecretKeys(undefined, undefined)).toBeUndefined();
  });
});

/** The key of a process with this data folder. */
const opened = (folder: string) => openSecretKeys(undefined, folder)?.current.id;

describe("the key in the folder of the store", () => {
  const folders: string[] = [];
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-secret-"));
    folders.push(folder);
    return folder;
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  test("is created once, readable by its owner only", () => {
    const folder = newFolder();
    const id = opened(folder);
    expect(opened(folder)).toBe(id as string);
    expect(opened(newFolder())).not.toBe(id as string);
    expect(readdirSync(folder)).toEqual(["secret.key"]);
    expect(statSync(join(folder, "secret.key")).mode & 0o777).toBe(0o600);
    expect(parseSecretKeys(readFileSync(join(folder, "secret.key"), "utf8").trim())).toHaveLength(1);
  });

  test("is not created if the setting has one", () => {
    const folder = newFolder();
    openSecretKeys([randomBytes(32)], folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is the same for processes that start concurrently", async () => {
    const folder = newFolder();
    const script = `
      const { openSecretKeys } = await import(${JSON.stringify(join(import.meta.dir, "secret-keys.ts"))});
      process.stdout.write("ready");
      await process.stdin.once("data", () => { console.log(openSecretKeys(undefined, process.argv[1]).current.id); process.exit(); });`;
    const children = Array.from({ length: 8 }, () =>
      Bun.spawn([process.execPath, "-e", script, folder], { stdin: "pipe", stdout: "pipe", stderr: "inherit" }),
    );
    const outputs = children.map((child) => child.stdout.getReader());
    for (const output of outputs) await output.read(); // ready
    for (const { stdin } of children) {
      void stdin.write("go");
      void stdin.flush();
    }
    const ids = await Promise.all(
      outputs.map(async (output) => new TextDecoder().decode((await output.read()).value).trim()),
    );
    expect(new Set(ids)).toEqual(new Set([opened(folder) as string]));
    expect(readdirSync(folder)).toEqual(["secret.key"]);
  });

  test("can be created after a crash during its creation", () => {
    const folder = newFolder();
    writeFileSync(join(folder, `secret.key.unfinished-${process.pid}`), "half of a k");
    const id = opened(folder);
    expect(opened(folder)).toBe(id as string);
  });

  test.each(["", "\n", "half of a k", `${random()},${random()}`])("is never replaced: %j is a fault", (text) => {
    const folder = newFolder();
    writeFileSync(join(folder, "secret.key"), text);
    expect(() => opened(folder)).toThrow("does not hold a secret key");
    expect(readFileSync(join(folder, "secret.key"), "utf8")).toBe(text);
  });

  test("causes a clear error if it cannot be read or created", () => {
    const folder = newFolder();
    mkdirSync(join(folder, "secret.key"));
    expect(() => opened(folder)).toThrow("is a folder");
    expect(() => opened(join(folder, "missing"))).toThrow("does not exist");
  });
});

test("a process without the key of enabled endpoints logs it once, also of endpoints that are created while it runs", async () => {
  const webhooks = await WebhookService.start();
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) await webhooks.after(60_000);
  };
  const { id } = await webhooks.endpoint(webhooks.receiver());
  await minutes(1);
  // As a process with another key creates it.
  const { id: other } = new SecretKeys(randomBytes(32)).current;
  const secrets = JSON.stringify([{ version: 12, keyId: other, endsAt: null }]);
  await webhooks.service.store.run(`UPDATE webhook_endpoints SET secrets = '${secrets}' WHERE id = '${id}'`);
  await minutes(2);
  expect(await metric(webhooks.service.app.base, "petstore_webhook_endpoints_without_key")).toBe(1);
  expect((await webhooks.call("POST", `/webhook-endpoints/${id}/rotate-secret`)).status).toBe(200);
  await minutes(1);
  await webhooks.service.store.run(`UPDATE webhook_endpoints SET secrets = '${secrets}', state = 'paused'`);
  await minutes(1);
  await webhooks.stop(); // writes the rest of the log
  const lines = webhooks.service.logLines.map((line) => JSON.parse(line));
  expect(lines.filter(({ event }) => event === "secret_key_missing")).toEqual([
    expect.objectContaining({ level: "warn", endpoints: 1 }),
  ]);
});
