import { canBoot } from "../deployment/bare-machine.ts";
import { canMakeNetworks } from "../drill/network.ts";
import { hasBrowser } from "../harness/browser.ts";
import { areInteropToolsInstalled } from "../harness/interop-tools.ts";
import { postgresMissing } from "../harness/postgres-server.ts";

const has = (name: string) => Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin` }) !== null;
const runs = (...command: [string, ...string[]]) => has(command[0]) && Bun.spawnSync(command).success;

/**
 * What this machine lacks, each as a sentence that says which tests were skipped and what to install.
 * @param skippedFiles the files with skipped tests
 */
export async function whatIsMissing(skippedFiles: readonly string[]): Promise<string[]> {
  const needsBoot = skippedFiles.some((file) => file.startsWith("test/deployment/readme-"));
  const bodies = has("curl") && has("node") && runs("/usr/bin/python3", "-c", "import requests");
  const checks: readonly (readonly [isThere: boolean, tests: string, need: string])[] = [
    [postgresMissing === undefined, "PostgreSQL", `one that runs: ${postgresMissing}`],
    [runs("strace", "-o", "/dev/null", "true"), "system calls", "strace with permission to trace"],
    [
      runs("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"),
      "a full disk",
      "permission to mount (unshare -rm)",
    ],
    [areInteropToolsInstalled(), "third-party tools", "npm ci --prefix test/interop"],
    [hasBrowser, "pages", "chromium-headless-shell"],
    [has("valkey-server") || has("redis-server"), "shared limits", "redis-server"],
    [has("openssl"), "Valkey over TLS", "openssl"],
    [has("nginx"), "the proxy", "nginx-light"],
    [has("caddy"), "the other proxy", "caddy"],
    [has("systemd-analyze"), "the units of systemd", "systemd"],
    [!needsBoot || (await canBoot()), "a bare machine", "root, cgroup2, overlay mounts, systemd, iproute2, util-linux"],
    [canMakeNetworks(), "a failover", "root, network namespaces, iproute2, nftables"],
    [has("promtool"), "alerts", "prometheus"],
    [bodies, "clients with large bodies", "curl, nodejs, python3-requests"],
  ];
  const missing = checks.filter(([isThere]) => !isThere);
  return missing.map(([, tests, need]) => `Tests of ${tests} were skipped; they need ${need}.`);
}
