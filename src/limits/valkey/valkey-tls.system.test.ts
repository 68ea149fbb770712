// Limits that are counted in a Valkey or Redis server over TLS: only with a server that shows who it is.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority, canCertify } from "../../../test/harness/certificates.ts";
import { freePort } from "../../../test/harness/free-port.ts";
import { metric, untilMetric } from "../../../test/harness/metrics.ts";
import { eventually, newDataDir, Program } from "../../../test/harness/program.ts";
import { hasValkey, ValkeyServer } from "../../../test/harness/valkey-server.ts";

/** Why a service began to count alone. */
const reasonOf = ({ output }: Program) => /limits_not_shared.*?"reason":"([^"]*)"/.exec(output)?.[1];
/** False if connecting took longer than a second, as on a busy machine: no later reason is logged. */
const isFinal = ({ reason = "" }) => !/no connection yet|ETIMEDOUT/.test(reason);

describe.skipIf(!hasValkey || !canCertify)("Valkey over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-tls-"));
  const authority = { NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") };
  let server: ValkeyServer;
  let port: number;
  beforeAll(async () => {
    const { cert, key } = await (await Authority.make(folder)).certify("DNS:localhost");
    port = freePort();
    const files = ["--tls-cert-file", cert, "--tls-key-file", key];
    server = await ValkeyServer.start("--tls-port", String(port), "--tls-auth-clients", "no", ...files);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const start = (host: string, settings: Record<string, string>) =>
    Program.start(newDataDir(), { PETSTORE_VALKEY_URL: `rediss://${host}:${port}`, ...settings });

  test("is used if its certificate is trusted", async () => {
    const program = await start("localhost", authority);
    await untilMetric(program.base, "petstore_limiter_degraded", 0);
    expect(await program.end()).toBe(0);
    expect(reasonOf(program) ?? "").not.toContain("certificate");
  });

  /** Whether a service counts alone when it has started, and why. */
  async function started(host: string, settings: Record<string, string>) {
    const program = await start(host, settings);
    const isDegraded = (await metric(program.base, "petstore_limiter_degraded")) === 1;
    expect(await program.end()).toBe(0);
    return { isDegraded, reason: reasonOf(program) };
  }

  test.each([{}, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }])(
    "receives no data if its certificate is not trusted; the error says why: %j",
    async (settings) => {
      const { isDegraded, reason } = await eventually(() => started("localhost", settings), isFinal);
      expect(isDegraded).toBe(true);
      expect(reason).toContain("certificate");
    },
  );

  test("receives no data if its certificate is for another name", async () => {
    const { isDegraded, reason } = await eventually(() => started("127.0.0.1", authority), isFinal);
    expect(isDegraded).toBe(true);
    expect(reason).toContain("does not match");
  });
});
