// The steps of deploy/README.md for several machines, typed one after another on machines that have none of the files.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, linkSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { canCertify } from "../harness/certificates.ts";
import { eventually, keyIn } from "../harness/program.ts";
import { BareMachine, blocksOf } from "./bare-machine.ts";
import { anyExecutable } from "./executable.ts";
import { root } from "./files.ts";
import { hasCaddy, hasNginx } from "./proxy.ts";

const hasPrograms = canCertify && hasNginx && hasCaddy && Bun.which("redis-server") !== null;
const hasAll = hasPrograms && existsSync("/etc/postgresql/15/main");
/** Those of the page, but one of three that serve: to boot a machine takes long. */
const addresses = [10, 11, 12, 21, 22, 31].map((number) => `10.0.0.${number}`);
const starts = hasAll ? addresses.map(() => BareMachine.start()) : [];
const machines = await Promise.all(starts).catch((): BareMachine[] => []);

describe.skipIf(machines.length === 0)("deploy/README.md, on several machines", () => {
  const [proxy, ...others] = machines as [BareMachine, ...BareMachine[]];
  const services = others.slice(0, 2);
  const [primary, standby, valkey] = others.slice(2) as [BareMachine, BareMachine, BareMachine];
  let key = "";
  let blocks: string[];
  let blocksOfOne: string[];
  const typed = new Set<string>();
  const step = (beginning: string) => {
    const block = blocks.find((one) => one.includes(beginning));
    if (block === undefined) throw new Error(`No step has ${beginning}`);
    typed.add(block);
    return block;
  };
  const stepOfOne = (beginning: string) => blocksOfOne.find((one) => one.includes(beginning)) as string;
  const authority = () => ({ KEY: key, CURL_CA_BUNDLE: "/run/authority.pem" });
  /** Adds an animal again and again until the response has this status. */
  const addUntil = (status: number, name: string) =>
    proxy.run(
      `until curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $KEY" \\
        --json '{"name":"${name}","categoryId":1}' https://shop.example.org/v1/pets | grep -x ${status}
      do sleep 0.2; done`,
      authority(),
    );
  const list = 'curl -s --fail -H "Authorization: Bearer $KEY" https://shop.example.org/v1/pets';
  const names = async () => {
    const text = await eventually(
      () => proxy.run(list, authority()).catch(() => ""),
      (found) => found !== "",
    );
    return (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
  };
  const written = (name: string) => addUntil(201, name);

  /** Makes one machine the synchronous standby of another. */
  async function follow(one: BareMachine, other: BareMachine, address: string): Promise<void> {
    await one.run(step("pg_basebackup").replace("primary=10.0.0.21", `primary=${address}`));
    const [ask = "", show = ""] = step("synchronous_standby_names").trim().split("\n");
    await other.run(ask);
    await eventually(async () => (await other.run(show)).includes("sync\n"));
  }

  beforeAll(async () => {
    [blocks, blocksOfOne] = [await blocksOf("Several machines"), await blocksOf("One machine")];
    BareMachine.connect(machines, addresses);
    await proxy.certify("shop.example.org", "127.0.0.1");
  });
  afterAll(() => Promise.all(machines.map((machine) => machine.stop())));

  test("the files are filled in, packed and copied", async () => {
    mkdirSync(join(proxy.folder, "dist"));
    cpSync(await anyExecutable(), join(proxy.folder, "dist/petstore"));
    cpSync(join(root, "deploy"), join(proxy.folder, "deploy"), { recursive: true });
    await proxy.run(step("VALKEY_PASSWORD"));
    const settings = await proxy.run("cat deploy/systemd/many.env");
    expect(settings).not.toMatch(/_PASSWORD@|SECRET_KEY=$/m);
    for (const machine of machines) {
      if (machine !== proxy) linkSync(join(proxy.folder, "petstore.tar.gz"), join(machine.folder, "petstore.tar.gz"));
    }
  });

  test("PostgreSQL gets a synchronous standby", async () => {
    await Promise.all([primary, standby].map((machine) => machine.run(step("install --yes postgresql"))));
    await primary.run(step("CREATE DATABASE"));
    await follow(standby, primary, "10.0.0.21");
  });

  test("Redis takes its password alone", async () => {
    await valkey.run(step("redis-server"));
    expect(await valkey.run("redis-cli -h 10.0.0.31 ping || true")).toContain("NOAUTH");
  });

  test("the service starts on each machine, and finds no fault", async () => {
    const [first, other] = services as [BareMachine, BareMachine];
    await first.run("ip addr add 10.0.0.13/24 dev lan"); // so that connections to the third machine are refused
    // Each look starts several programs. That of the first machine is tested.
    const timer = "/etc/systemd/system/petstore-watchdog@.timer.d";
    await other.run(`mkdir -p ${timer} && printf '[Timer]\\nOnActiveSec=\\nOnActiveSec=1h\\n' > ${timer}/rarely.conf`);
    for (const [index, service] of services.entries()) {
      const said = await service.run(step("petstore@.service").replace("10.0.0.11", `10.0.0.1${index + 1}`));
      expect(said).toContain("ready");
    }
  });

  test("nginx and Caddy serve the shop over TLS", async () => {
    const [service] = services as [BareMachine];
    const [createAccount = "", createKey = ""] = stepOfOne("accounts create").trim().split("\n");
    const [id = ""] = /acc_\w+/.exec(await service.run(createAccount)) ?? [];
    key = keyIn(await service.run(createKey.replace("acc_…", id)));
    await proxy.run("tar -xzf petstore.tar.gz");
    await proxy.run(stepOfOne("certbot").replace("nginx-one", "nginx-three"));
    expect(await names()).toEqual([]);
    await proxy.run("systemctl stop nginx");
    await proxy.run(stepOfOne("Caddyfile").replace("caddy-one", "caddy-three"));
    await written("Rex");
    expect(await names()).toEqual(["Rex"]);
  });

  test("an update restarts each process", async () => {
    const [service] = services as [BareMachine];
    await service.run(step("systemctl restart petstore@"));
  });

  test("a process that hangs is replaced", async () => {
    const [service] = services as [BareMachine];
    const pid = () => service.run("systemctl show --property MainPID --value petstore@8081");
    const before = await pid();
    await service.run("systemctl kill --signal STOP petstore@8081");
    await eventually(pid, (now) => now !== before && now !== "0\n");
  });

  test("a dead standby stops writes only until it is no longer waited for", async () => {
    await standby.run("systemctl kill --signal KILL postgresql@15-main");
    await addUntil(503, "Bob");
    await primary.run(step("ALTER SYSTEM RESET"));
    await written("Eve");
    await follow(standby, primary, "10.0.0.21");
  });

  test("the service follows a promoted standby, and the old primary becomes its standby", async () => {
    await primary.run("systemctl kill --signal KILL postgresql@15-main");
    await standby.run(step("pg_promote"));
    await written("Tom");
    await primary.run("systemctl stop postgresql@15-main");
    await follow(primary, standby, "10.0.0.22");
    await written("Ida");
    expect(await names()).toEqual(expect.arrayContaining(["Rex", "Tom", "Ida"]));
    expect(
      await eventually(
        () => primary.run("runuser -u postgres -- psql -tAc 'SELECT name FROM pets' petstore"),
        (text) => text.includes("Ida"),
      ),
    ).toContain("Tom");
  });

  test("a backup brings the shops back, without what came after it", async () => {
    await standby.run(step("pg_dump"));
    const before = await names();
    await written("Max");
    await Promise.all(services.map((service) => service.run("systemctl stop petstore@8081 petstore@8082")));
    const file = await standby.run("ls /var/backups | grep ^petstore-");
    await standby.run(step("pg_restore").replace("FILE", file.trim()));
    await services[0]?.run("petstore-admin restore --yes");
    await Promise.all(services.map((service) => service.run("systemctl start petstore@8081 petstore@8082")));
    expect(await names()).toEqual(before);
  });

  test("Redis that starts again is used again", async () => {
    await valkey.run("systemctl kill --signal KILL redis-server && systemctl restart redis-server");
    await written("Kim");
  });

  test("no other step is in the section", () => {
    expect(blocks.filter((block) => !typed.has(block))).toEqual([]);
  });
});
