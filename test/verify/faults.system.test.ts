// For every check of `petstore verify` there is a fault that makes this check fail, and no other.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { checksOf, runChecks } from "../../src/verify/run-checks.ts";
import { Way } from "../../src/verify/way.ts";
import { Authority, canCertify } from "../harness/certificates.ts";
import { isLongRun } from "../harness/test-length.ts";
import { faults } from "./faults.ts";
import { type Fault, FaultyProxy, type Front } from "./faulty-proxy.ts";
import { startBehindProxy } from "./started.ts";

const levels = Object.entries(checksOf(domains.flatMap((domain) => domain.operations)));
const all = levels.flatMap(([level, checks]) => checks.map(({ name }) => `${level} ${name}`));
/** Checks that take long. They are made only if they or nothing is to fail. */
const slow = new Set(["heartbeat", "slow-upload"]);

let folder: string;
let certificate: Front["certificate"];
let started: Awaited<ReturnType<typeof startBehindProxy>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-verify-"));
  // The certificate of the proxies is nobody's: another test is about certificates.
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  if (canCertify) certificate = await (await Authority.make(folder)).certify("DNS:localhost");
  started = await startBehindProxy();
});
afterAll(async () => {
  await started.stop();
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  rmSync(folder, { recursive: true });
});

/** Makes checks with a shop and a proxy of their own, so that several runs share the service. */
async function outcomesWith(
  fault: (key: string) => Fault,
  chosen: Iterable<readonly [string, (typeof levels)[number][1]]>,
  front: Partial<Front> = {},
) {
  const { service, port, base } = started;
  const { key } = await service.newAccountWithKey("enterprise");
  const { key: limitsKey } = await service.newAccountWithKey("free");
  const proxy = await FaultyProxy.start({ target: port, base, ...front }, fault(key));
  const given = { base: proxy.base, key, limitsKey, levels: [], second: "127.0.0.9", category: undefined };
  const way = new Way({ ...given, stop: new AbortController().signal, say: () => {} });
  const { outcomes } = await runChecks(Object.fromEntries(chosen), way, async () => {});
  await way.removeAll();
  proxy.stop();
  return outcomes;
}

test.concurrent.skipIf(!canCertify)("no check fails if nothing is broken", async () => {
  const outcomes = await outcomesWith(() => ({}), levels, { certificate });
  expect(outcomes.filter(({ outcome }) => outcome === "FAILED")).toEqual([]);
});

const checkOf = (fault: string) => fault.replace(/:.*/, "");
test("every check has a fault, and every fault is for a check", () => {
  expect(new Set(Object.keys(faults).map(checkOf))).toEqual(new Set(all));
});

// Those of its level are made; in a long run, all except those of limits, the only ones with their key.
test.concurrent.skipIf(!canCertify).each(Object.entries(faults))(
  "%s fails alone if it is broken",
  async (title, fault) => {
    const [broken, name = ""] = checkOf(title).split(" ");
    const isMade = (level: string) => level === broken || (isLongRun && broken !== "limits" && level !== "limits");
    const chosen = levels
      .filter(([level]) => isMade(level))
      .map(([level, checks]) => [level, checks.filter((one) => !slow.has(one.name) || one.name === name)] as const);
    const outcomes = await outcomesWith(fault, chosen, isMade("deployment") ? { certificate } : {});
    const failed = outcomes.filter(({ outcome }) => outcome === "FAILED");
    expect(failed.map((one) => `${one["level"]} ${one["name"]}`)).toEqual([`${broken} ${name}`]);
  },
);

/** An address of this machine that nobody uses, with the ports of http and https. */
const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
const mayListen = await new Promise<boolean>((resolve) => {
  const server = createServer().on("error", () => resolve(false));
  server.listen(443, host, () => server.close(() => resolve(true)));
});

test.skipIf(!canCertify || !mayListen)("without a port, http is tried on its port and on that of https", async () => {
  const checks = levels.flatMap(([, some]) => some).filter(({ name }) => name === "plain-http");
  const verify = async (fault: Fault) => {
    const chosen = [["deployment", checks] as const];
    const [found] = await outcomesWith(() => fault, chosen, { certificate, host, port: 443 });
    return [found?.outcome, found?.["sent"]];
  };
  expect(await verify({})).toEqual(["ok", undefined]);
  expect(await verify({ takesPlain: true })).toEqual(["FAILED", `GET http://${host}:443/v1/pets `]);
  const plain = await FaultyProxy.start({ target: started.port, host, port: 80 });
  expect(await verify({})).toEqual(["FAILED", `GET http://${host}/v1/pets `]);
  plain.stop();
});
