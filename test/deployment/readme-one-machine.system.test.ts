// The steps of deploy/README.md for one machine, typed one after another on a machine that has none of the files.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { canCertify } from "../harness/certificates.ts";
import { eventually, keyIn } from "../harness/program.ts";
import { BareMachine, blocksOf } from "./bare-machine.ts";
import { anyExecutable } from "./executable.ts";
import { root } from "./files.ts";
import { hasCaddy, hasNginx } from "./proxy.ts";

const hasPrograms = canCertify && hasNginx && hasCaddy && Bun.which("curl") !== null;
const started = hasPrograms ? await BareMachine.start().catch(() => undefined) : undefined;

describe.skipIf(started === undefined)("deploy/README.md, from a bare machine to a shop behind TLS", () => {
  const machine = started as BareMachine;
  let [key, testKey] = ["", ""];
  let blocks: string[];
  const step = (beginning: string) => {
    const block = blocks.find((one) => one.includes(beginning));
    if (block === undefined) throw new Error(`No step has ${beginning}`);
    return block;
  };
  const call = (words: string) =>
    machine.run(`curl -s --fail-with-body -H "Authorization: Bearer $KEY" ${words}`, {
      KEY: key,
      CURL_CA_BUNDLE: "/run/authority.pem",
    });
  const add = (name: string) => call(`--json '{"name":"${name}","categoryId":1}' https://shop.example.org/v1/pets`);
  const opened = () => eventually(() => call("https://shop.example.org/v1/pets").catch(() => ""));
  /** Types the README's step that tries the way to the service. */
  const verify = () =>
    machine.run(step("petstore verify"), { PETSTORE_KEY: testKey, NODE_EXTRA_CA_CERTS: "/run/authority.pem" });

  beforeAll(async () => {
    blocks = await blocksOf("One machine");
    await machine.certify("shop.example.org", "127.0.0.1");
  });
  afterAll(() => machine.stop());

  test("the files are built and packed", async () => {
    mkdirSync(join(machine.folder, "dist"));
    cpSync(await anyExecutable(), join(machine.folder, "dist/petstore"));
    cpSync(join(root, "deploy"), join(machine.folder, "deploy"), { recursive: true });
    const [build = "", pack = "", ...others] = step("npm ci").trim().split("\n");
    expect([build, others]).toEqual(["npm ci && npm run build", []]); // see `executable.system.test.ts`
    await machine.run(`${pack} && rm -r deploy dist`);
  });

  test("the service is installed", async () => {
    await machine.run(step("useradd"));
    expect(await machine.run("stat -c '%a %U %G' /etc/petstore.env /var/backups/petstore")).toBe(
      "640 root petstore\n700 petstore petstore\n",
    );
  });

  test("an account gets a key", async () => {
    const [createAccount = "", createKey = "", createTestKey = ""] = step("accounts create").trim().split("\n");
    const [id = ""] = /acc_\w+/.exec(await machine.run(createAccount)) ?? [];
    key = keyIn(await machine.run(createKey.replace("acc_…", id)));
    testKey = keyIn(await machine.run(createTestKey.replace("acc_…", id)));
    expect([key, testKey]).toEqual([expect.stringMatching(/^psk_live_/), expect.stringMatching(/^psk_test_/)]);
  });

  test("the service starts, and answers", async () => {
    expect(await machine.run(step("enable --now"))).toContain("ready");
  });

  test("nginx serves the shop over TLS, and certbot can renew the certificate", async () => {
    await machine.run(step("certbot"));
    expect(await opened()).toBe("[]");
    expect(await verify()).toContain(" 0 failed");
    await add("Rex");
    const plain = "curl -s -o /dev/null -w '%{http_code}' http://shop.example.org/docs";
    await eventually(async () => (await machine.run(plain)) === "308");
    await machine.run(
      step("certbot")
        .split("\n")
        .find((line) => line.startsWith("certbot")) as string,
    );
    await machine.run("systemctl stop nginx");
  });

  test("Caddy serves it as well", async () => {
    await machine.run(step("Caddyfile"));
    expect(JSON.parse(await opened())).toEqual([{ id: 1, name: "Rex", categoryId: 1 }]);
    expect(await verify()).toContain(" 0 failed");
    await machine.run("curl -s -o /dev/null --fail https://shop.example.org/docs", {
      CURL_CA_BUNDLE: "/run/authority.pem",
    });
  });

  test("a backup brings the shop back", async () => {
    await machine.run("petstore-admin backups take");
    await add("Tom");
    const lines = step("restore").trim().split("\n");
    for (const line of lines) {
      const files = line.includes("FILE")
        ? (await machine.run("ls /var/backups/petstore | grep db$")).trim().split("\n")
        : [];
      await machine.run(line.replace("FILE", files.at(-1) ?? "")); // the newest
    }
    expect(JSON.parse(await opened())).toEqual([{ id: 1, name: "Rex", categoryId: 1 }]);
  });

  test("no other step is in the section", () => {
    const known = [
      "npm ci",
      "useradd",
      "accounts create",
      "enable --now",
      "certbot",
      "Caddyfile",
      "petstore verify",
      "restore",
    ];
    expect(blocks.filter((block) => !known.some((beginning) => block.includes(beginning)))).toEqual([]);
  });
});
