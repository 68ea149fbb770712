import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { read } from "../deployment/files.ts";
import { nginxCommand } from "../deployment/proxy.ts";
import type { Host } from "./network.ts";

/** Starts nginx on a machine, with deploy/proxy/nginx.conf in front of the machines with the service. */
export function startNginx(folder: string, host: Host, port: number, services: readonly Host[]): Bun.Subprocess {
  mkdirSync(folder, { recursive: true });
  const files = {
    "nginx.conf": read("deploy/proxy/nginx.conf")
      .replaceAll("/tmp/", `${folder}/`)
      .replace("listen 8080;", `listen ${host.address}:${port};`),
    "petstore-upstream.conf": services
      .map(({ address }) => `server ${address}:${port} max_fails=1 fail_timeout=2s;\n`)
      .join(""),
    "petstore-http.conf": read("deploy/proxy/petstore-http.conf"),
    "petstore-proxy.conf": read("deploy/proxy/petstore-proxy.conf"),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return Bun.spawn(host.command(...nginxCommand(folder)), { stdio: ["ignore", "ignore", "ignore"] });
}
