import { existsSync } from "node:fs";
import { canBoot } from "../deployment/bare-machine.ts";
import { canMakeNetworks } from "../drill/network.ts";
import { hasBrowser } from "../harness/browser.ts";
import { areInteropToolsInstalled } from "../harness/interop-tools.ts";
import { postgresMissing } from "../harness/postgres-server.ts";

/**
 * What this machine lacks, each as a sentence that says which tests were skipped and what to install.
 * @param skippedFiles the files with skipped tests
 */
export async function whatIsMissing(skippedFiles: readonly string[]): Promise<string[]> {
  const checks: readonly (readonly [isMissing: boolean, message: string])[] = [
    [postgresMissing !== undefined, `Tests of PostgreSQL were skipped: ${postgresMissing}.`],
    [
      !runs(["strace", "-o", "/dev/null", "true"]),
      "Tests of system calls were skipped: they need strace with permission to trace (Debian: apt-get install strace).",
    ],
    [
      !runs(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]),
      "The test of a full disk was skipped: it needs permission to mount a file system (unshare -rm).",
    ],
    [
      !areInteropToolsInstalled(),
      "Tests with third-party tools were skipped: they need the packages of test/interop (npm ci --prefix test/interop).",
    ],
    [!hasBrowser, "Tests of pages were skipped: they need Chromium (Debian: apt-get install chromium-headless-shell)."],
    [
      !Bun.which("valkey-server") && !Bun.which("redis-server"),
      "Tests of shared limits were skipped: they need Valkey or Redis (Debian: apt-get install redis-server).",
    ],
    [
      !Bun.which("openssl"),
      "Tests of Valkey over TLS were skipped: they need openssl (Debian: apt-get install openssl).",
    ],
    [
      !Bun.which("nginx") && !existsSync("/usr/sbin/nginx"),
      "Tests behind the proxy were skipped: they need nginx (Debian: apt-get install nginx-light).",
    ],
    [!Bun.which("caddy"), "Tests behind Caddy were skipped: they need it (Debian: apt-get install caddy)."],
    [
      !Bun.which("systemd-analyze"),
      "Tests of the units of systemd were skipped: they need systemd-analyze (Debian: apt-get install systemd).",
    ],
    [
      skippedFiles.some((file) => file.startsWith("test/deployment/readme-")) && !(await canBoot()),
      "Tests on a bare machine were skipped: they need root, systemd, namespaces, overlay mounts and cgroup2 (Debian: apt-get install systemd iproute2 util-linux).",
    ],
    [
      !canMakeNetworks(),
      "The test of a failover was skipped: it needs root, network namespaces and nft (Debian: apt-get install iproute2 nftables).",
    ],
    [!Bun.which("promtool"), "Tests of alerts were skipped: they need promtool (Debian: apt-get install prometheus)."],
    [
      !Bun.which("curl") || !Bun.which("node") || !runs(["/usr/bin/python3", "-c", "import requests"]),
      "Tests of clients with large bodies were skipped: they need curl, Node and Python's requests (Debian: apt-get install curl nodejs python3-requests).",
    ],
  ];
  return checks.filter(([isMissing]) => isMissing).map(([, message]) => message);
}

function runs(command: string[]): boolean {
  return Bun.which(command[0] ?? "") !== null && Bun.spawnSync(command).success;
}
