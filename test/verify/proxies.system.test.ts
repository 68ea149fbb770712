// `petstore verify` as an operator types it, against the service behind proxies.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "../deployment/files.ts";
import { hasCaddy, hasNginx, type Place, Proxy } from "../deployment/proxy.ts";
import { Authority, canCertify } from "../harness/certificates.ts";
import { freePort } from "../harness/free-port.ts";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program, runCommand } from "../harness/program.ts";

/** A site of nginx with these lines, as an operator may write it who has not read our pages. */
const nginxWith = (...lines: readonly string[]) => `server {
  listen 443 ssl default_server;
  server_name petstore.example.com;
  ssl_certificate -;
  ssl_certificate_key -;
  ${lines.join("\n  ")}
  location / { proxy_pass http://127.0.0.1:8080; }
}`;

const nginxSite = (site: string, place: Place) => Proxy.nginxSite(site, place);
const caddySite = (site: string, place: Place) => Proxy.caddySite(site, place);
const sites = [
  { name: "nginx-one.conf", site: read("deploy/proxy/nginx-one.conf"), start: nginxSite, canRun: hasNginx, broken: {} },
  { name: "caddy-one.conf", site: read("deploy/proxy/caddy-one.conf"), start: caddySite, canRun: hasCaddy, broken: {} },
  {
    name: "nginx with its defaults",
    site: nginxWith(),
    start: nginxSite,
    canRun: hasNginx,
    broken: {
      "deployment too-large": "413 text/html: .* client_max_body_size 512k",
      "deployment long-query": "414 text/html: .* large_client_header_buffers 4 16k",
      "deployment forwarded": "x-ratelimit-remaining: 59 .* PETSTORE_TRUSTED_PROXIES must name the proxy",
      "deployment second-address": "x-ratelimit-remaining: \\d+ .* which must set X-Forwarded-For",
      "deployment http2": "no h2: .* listen 443 ssl http2",
      "deployment operators": "200 application/json: .* deploy/proxy/petstore-proxy.conf",
    },
  },
  {
    name: "nginx that buffers, compresses, cuts bodies and replaces errors",
    site: nginxWith(
      "gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any;",
      "proxy_ignore_headers X-Accel-Buffering;",
      "client_max_body_size 32k;",
      "proxy_intercept_errors on; error_page 404 /404.html;",
    ),
    start: nginxSite,
    canRun: hasNginx,
    broken: {
      "core errors": "404 text/html: .* proxy_intercept_errors off",
      "core json": "text/html",
      "core limit-headers": "x-ratelimit-limit: absent",
      "service stream": "nothing right .* proxy_buffering off",
      "service resumption": "nothing",
      "service request-ids": "x-request-id: absent",
      "deployment body": "413 text/html: .* client_max_body_size 512k",
      "deployment import": "413 text/html",
      "deployment too-large": "413 text/html",
      "deployment long-query": "414 text/html",
      "deployment compression": "412 .* gzip off, which weakens ETag",
      "deployment immediate": "nothing right .* proxy_buffering off",
      "deployment forwarded": "x-ratelimit-remaining",
      "deployment second-address": "x-ratelimit-remaining",
      "deployment http2": "no h2",
      "deployment operators": "200 application/json",
      "deployment heartbeat": "nothing right .* proxy_buffering off",
    },
  },
];

for (const { name, site, start, canRun, broken } of sites) {
  describe.skipIf(!canRun || !canCertify)(`behind ${name}`, () => {
    const [folder, dataDir, port] = [mkdtempSync(join(tmpdir(), "petstore-verify-")), newDataDir(), freePort()];
    let program: Program;
    let proxy: Proxy;
    let authority: Authority;
    let keys: Record<string, string>;

    beforeAll(async () => {
      const settings = {
        PETSTORE_ENV: "production",
        PETSTORE_BASE_URL: `https://localhost:${port}/v1`,
        PETSTORE_TRUSTED_PROXIES: "127.0.0.1",
      };
      program = await Program.start(dataDir, settings);
      const keyOf = async (plan: "free" | "pro") => (await newKeyIn(dataDir, { plan, mode: "test", settings })).key;
      keys = { PETSTORE_KEY: await keyOf("pro"), PETSTORE_LIMITS_KEY: await keyOf("free") };
      authority = await Authority.make(folder);
      const certificate = { ...(await authority.certify("DNS:localhost")), ca: authority.certificate };
      const place: Place = { port, plainPort: freePort(), certificate };
      proxy = await start(site.replace("127.0.0.1:8080", `127.0.0.1:${program.port}`), place);
    });
    afterAll(async () => {
      await proxy.stop();
      await program.end();
      rmSync(folder, { recursive: true });
    });

    const verify = (address: string, options: readonly string[], variables = {}) =>
      runCommand(dataDir, ["verify", address, ...options], {
        ...keys,
        NODE_EXTRA_CA_CERTS: authority.file,
        ...variables,
      });

    const isRight = Object.keys(broken).length === 0;
    test(isRight ? "all checks pass" : "checks fail, and say why", async () => {
      const { status, stdout } = await verify(`https://localhost:${port}/v1`, ["--from", "127.0.0.9"]);
      const lines = stdout.replaceAll(/\n +/g, " ").split("\n");
      const failed = lines.flatMap((line) => {
        const [, check = "", facts = ""] = /^\[\d+\/\d+\] FAILED +([\w-]+ [\w-]+): (.*)/.exec(line) ?? [];
        return check ? [[check, facts] as const] : [];
      });
      expect(failed.map(([check]) => check)).toEqual(Object.keys(broken));
      for (const [index, pattern] of Object.values(broken).entries())
        expect(failed[index]?.[1]).toMatch(new RegExp(pattern));
      expect(status).toBe(isRight ? 0 : 1);
    });

    test.each([
      ["of an unknown authority", "localhost", { NODE_EXTRA_CA_CERTS: "" }],
      // The shipped sites answer nobody who names another host.
      ...(isRight ? [] : [["of another name", "127.0.0.1", {}] as const]),
    ] as const)("a certificate %s is said in one sentence", async (_what, host, variables) => {
      const { status, stdout, stderr } = await verify(`https://${host}:${port}/v1`, [], variables);
      const sentence =
        /^The certificate does not fit at https:\/\/\S+\/v1: .+ \(for an .+ set NODE_EXTRA_CA_CERTS\)\.\n$/;
      expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(sentence)]);
    });
  });
}
