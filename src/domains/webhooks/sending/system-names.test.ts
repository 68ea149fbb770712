import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DnsServer, REFUSED } from "../../../../test/harness/dns-server.ts";
import { SystemNames } from "./system-names.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-names-"));
const servers: DnsServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
  rmSync(folder, { recursive: true });
});

test("names are looked up as the system is configured at that moment", async () => {
  const names = { "hook.test": () => ["192.0.2.1", "2001:db8::1"], "ipv6.test": () => ["2001:db8::2"] };
  servers.push(await DnsServer.start(names), await DnsServer.start({}, REFUSED), await DnsServer.start({}));
  const [right = "", refusing = "", empty = ""] = servers.map(({ address }) => address);
  const system = new SystemNames(folder);
  const found = (name: string, ...configured: string[]) => {
    writeFileSync(join(folder, "resolv.conf"), configured.map((server) => `nameserver ${server}\n`).join(""));
    return system.resolve(name);
  };
  expect(await found("hook.test", empty, right)).toEqual([]); // the first server knows that there is no such name
  expect(await found("hook.test", right)).toEqual(["192.0.2.1", "2001:db8::1"]);
  expect(await found("hook.test", refusing, right)).toEqual(["192.0.2.1", "2001:db8::1"]);
  expect(await found("ipv6.test", refusing, refusing, right)).toEqual(["2001:db8::2"]);
  expect(await found("hook.test", refusing)).toEqual([]);
  for (const name of ["Hook.test", "other.test Hook.test # as here", "hook.test\n#192.0.2.8 hook.test"]) {
    writeFileSync(join(folder, "hosts"), `192.0.2.9\t${name}\n`);
    expect(await found("hook.test", right)).toEqual(["192.0.2.9"]);
  }
  expect(await found("shop.localhost", empty)).toEqual(["127.0.0.1", "::1"]);
});
