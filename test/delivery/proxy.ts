import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../harness/program.ts";
import { read } from "./files.ts";

const program = ["/usr/sbin/nginx", Bun.which("nginx") ?? ""].find((path) => existsSync(path));

/** Tests of the proxy are skipped where there is no nginx. */
export const hasNginx = program !== undefined;

/** nginx with the configuration of compose.yaml, but for the addresses and the folder of its own files. */
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
    const ports = [...upstream];
    const configuration = read("deploy/nginx.conf")
      .replaceAll("/tmp/", `${this.#folder}/`)
      .replace("listen 8080;", `listen 127.0.0.1:${port};`)
      .replaceAll(/172\.30\.17\.\d+:8080/g, () => `127.0.0.1:${ports.shift()}`);
    const file = join(this.#folder, "nginx.conf");
    this.#process = Bun.spawn(
      ["sh", "-c", 'cat > "$1" && exec "$0" -e stderr -g "daemon off;" -c "$1"', program as string, file],
      { stdin: Buffer.from(configuration), stdout: "ignore", stderr: "ignore" },
    );
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.exited;
    rmSync(this.#folder, { recursive: true });
  }
}
