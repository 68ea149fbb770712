// The image, compose.yaml and the documented commands fit the program and each other. No Docker runs here.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { readConfig } from "../../src/config.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { newDataDir, runCommand } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";
import { dockerInstructions, read, readCompose, root } from "./files.ts";

const instructions = dockerInstructions();
const image = new Map(instructions.slice(instructions.findLastIndex(([name]) => name === "FROM")));
const wordsOf = (name: string): string[] => JSON.parse(/\[.*\]$/.exec(image.get(name) ?? "")?.[0] ?? "[]");
const environment = Object.fromEntries((image.get("ENV") ?? "").split(" ").map((word) => word.split("=")));
const { port, dataDir } = readConfig(environment, undefined, settingsOf(domains));
const compose = readCompose();
const readme = read("deploy/README.md");
/** The command with its continued lines. */
const [dockerRun = ""] = /^docker run --read-only (?:.*\\\n)*.*$/m.exec(readme) ?? [];

/** True if the program takes these words as a command. */
const isCommand = async (words: readonly string[]) =>
  (await runCommand(newDataDir(), [...words, "--help"])).status === 0;

describe("the image", () => {
  test("starts the program that it contains, and asks it for its health", async () => {
    const [program] = wordsOf("ENTRYPOINT");
    expect(instructions).toContainEqual(["COPY", `--from=build /petstore/dist/petstore /usr/local/bin/${program}`]);
    expect(await isCommand(wordsOf("CMD"))).toBe(true);
    const [asked, ...health] = wordsOf("HEALTHCHECK");
    expect([asked, await isCommand(health)]).toEqual([program, true]);
  });

  test("writes to a volume that belongs to its user", () => {
    expect(image.get("VOLUME")).toBe(dataDir);
    expect(environment["SQLITE_TMPDIR"]).toBe(dataDir);
    const owner = image.get("USER");
    expect(instructions).toContainEqual(["COPY", `--from=build --chown=${owner} /petstore/data ${dataDir}`]);
    expect(readme).toContain(`runs as user ${owner?.split(":")[0]} and writes only \`${dataDir}\``);
  });

  test("listens on the port that it exposes", () => {
    expect(image.get("EXPOSE")).toBe(String(port));
  });
});

describe("the documented container", () => {
  test("publishes the port, and keeps the data in the volume", () => {
    expect(dockerRun).toContain(`-p 127.0.0.1:${port}:${port} -v petstore:${dataDir} `);
  });

  test("has settings that the service takes", () => {
    const given = [...dockerRun.matchAll(/-e (\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
    expect(given.length).toBeGreaterThan(1);
    const config = readConfig({ ...environment, ...Object.fromEntries(given) }, undefined, settingsOf(domains));
    expect(config).toMatchObject({ environment: "production", port, dataDir });
  });

  test("is asked for commands that exist", async () => {
    const asked = [...readme.matchAll(/docker (?:compose )?exec \S+ petstore ([a-z-]+ [a-z-]+)/g)];
    expect(asked.map(([, words]) => words)).toEqual(["accounts list", "accounts create"]);
    for (const [, words = ""] of asked) expect([words, await isCommand(words.split(" "))]).toEqual([words, true]);
  });
});

describe("compose.yaml", () => {
  const services = Object.entries(compose.services);
  const mounts = services.flatMap(([name, { volumes = [] }]) =>
    volumes.map((volume) => {
      const [source = "", target = ""] = volume.split(":");
      return { name, source, target };
    }),
  );

  test("mounts files that exist, and volumes that it declares", () => {
    const files = mounts.filter(({ source }) => source.startsWith("."));
    expect(files.filter(({ source }) => !existsSync(join(root, "deploy/compose", source)))).toEqual([]);
    const named = mounts.filter((mount) => !files.includes(mount)).map(({ source }) => source);
    expect([...new Set(named)].toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
    for (const { name, source, target } of mounts)
      if (source === "petstore") expect([name, target]).toEqual([name, dataDir]);
  });

  test("mounts all that the configuration of the proxy includes", () => {
    const there = mounts.filter(({ name }) => name === "proxy").map(({ target }) => target);
    const included = [...read("deploy/proxy/nginx.conf").matchAll(/^ *include (\S+);/gm)].map(
      ([, file]) => `/etc/nginx/${file}`,
    );
    expect(there.toSorted()).toEqual(["/etc/nginx/nginx.conf", ...included].toSorted());
  });

  test("sends requests to the ports that are listened on", () => {
    const [published = ""] = compose.services["proxy"]?.ports ?? [];
    expect(read("deploy/proxy/nginx.conf")).toContain(`listen ${published.split(":").at(-1)};`);
    const upstream = [...read("deploy/compose/petstore-upstream.conf").matchAll(/^server [\d.]+:(\d+) /gm)];
    expect(upstream.map(([, number]) => Number(number))).toEqual([port, port]);
  });

  test("waits for services that can tell their health: ours by the image, the others by a command", () => {
    for (const [name, { depends_on = {} }] of services) {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const { image: from, healthcheck } = compose.services[other] ?? {};
        const tells = from === "petstore" || healthcheck !== undefined;
        expect([name, other, condition, tells]).toEqual([name, other, "service_healthy", true]);
      }
    }
  });

  test("asks the proxy for a path that the service has without a key", async () => {
    const [, path = ""] =
      /http:\/\/127\.0\.0\.1:\d+(\/\S+)/.exec(compose.services["proxy"]?.healthcheck?.test.join(" ") ?? "") ?? [];
    const service = await TestService.start();
    expect((await fetch(new URL(path, service.app.base))).status).toBe(200);
    await service.stop();
  });
});
