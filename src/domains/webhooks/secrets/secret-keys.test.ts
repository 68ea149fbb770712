import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestService } from "../../../../test/harness/service.ts";
import { scopes } from "../../../contract/caller.ts";
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

test("a service does not start without the key of an enabled endpoint, and makes none", async () => {
  const first = await TestService.start({ settings: { PETSTORE_SECRET_KEY: random() } });
  const { store } = first;
  const { key } = await first.newAccountWithKey("enterprise", undefined, [...scopes]);
  const { status } = await first.call("POST", "/webhook-endpoints", { key, body: { url: "https://example.org/" } });
  expect(status).toBe(201);
  await first.app.stop();
  const start = (settings: Record<string, string>) => TestService.start({ store, settings });
  const message = "The key of the secrets of an enabled webhook endpoint is missing. Set PETSTORE_SECRET_KEY";
  for (const settings of [{}, { PETSTORE_SECRET_KEY: random() }]) {
    // oxlint-disable-next-line typescript/await-thenable -- `bun:test` declares the result as void
    await expect(start(settings)).rejects.toThrow(message);
  }
  expect(existsSync(join(store.folder, "secret.key"))).toBe(false);
  await store.run("UPDATE webhook_endpoints SET state = 'paused'");
  await (await start({ PETSTORE_SECRET_KEY: random() })).stop();
});
