import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../harness/program.ts";
import { read, root } from "./files.ts";

const program = ["/usr/sbin/nginx", Bun.which("nginx") ?? ""].find((path) => existsSync(path));

/** Tests of the proxy are skipped where there is no nginx. */
export const hasNginx = program !== undefined;

/** nginx with the configuration for one host, but for the addresses and the folder of its own files. */
export class Proxy {
  readonly origin: string;
  readonly #folder: string;
  readonly #process: Bun.Subprocess;

  /** `upstream` holds the ports of the two processes behind it. */
  static async start(port: number, upstream: readonly [number, number]): Promise<Proxy> {
    const proxy = new Proxy(port, upstream);
    const ask = () =>
      fetch(`${proxy.origin}/openapi.json`).then(
        ({ status }) => status,
        () => 0,
      );
    await eventually(ask, (status) => status === 200);
    return proxy;
  }

  private constructor(port: number, upstream: readonly [number, number]) {
    this.origin = `http://127.0.0.1:${port}`;
    this.#folder = mkdtempSync(join(tmpdir(), "petstore-proxy-"));
    const configuration = read("deploy/nginx.conf")
      .replaceAll("/tmp/", `${this.#folder}/`)
      .replace("listen 8080;", `listen 127.0.0.1:${port};`);
    const file = join(this.#folder, "nginx.conf");
    const [first, second] = upstream.map(String) as [string, string];
    const servers = read("deploy/petstore-upstream.conf").replace("8081", first).replace("8082", second);
    writeFileSync(join(this.#folder, "petstore-upstream.conf"), servers);
    writeFileSync(file, configuration);
    this.#process = Bun.spawn([program as string, "-e", "stderr", "-g", "daemon off;", "-c", file], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.exited;
    rmSync(this.#folder, { recursive: true });
  }
}

/** What nginx says of the configuration with the processes that a file names; empty if it is fit to be used. */
export function faultsWith(upstream: string): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-proxy-"));
  writeFileSync(join(folder, "nginx.conf"), read("deploy/nginx.conf").replaceAll("/tmp/", `${folder}/`));
  copyFileSync(join(root, upstream), join(folder, "petstore-upstream.conf"));
  const { exitCode, stderr } = Bun.spawnSync([
    program as string,
    "-t",
    "-e",
    "stderr",
    "-c",
    join(folder, "nginx.conf"),
  ]);
  rmSync(folder, { recursive: true });
  return exitCode === 0 ? "" : stderr.toString();
}
