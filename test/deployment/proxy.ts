import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { eventually } from "../harness/program.ts";
import { read, root } from "./files.ts";

const nginx = ["/usr/sbin/nginx", Bun.which("nginx") ?? ""].find((path) => existsSync(path));
const caddy = Bun.which("caddy");

/** Tests of the proxies are skipped where the machine has none. */
export const hasNginx = nginx !== undefined;
export const hasCaddy = caddy !== null;

/** The certificate of a site, as files, and of the authority that signed it, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Where a site listens. */
export interface Place {
  readonly port: number;
  /** The port without TLS. */
  readonly plainPort: number;
  readonly certificate: Certificate;
}

/** A proxy that runs with a shipped configuration, apart from addresses, ports and the folder of its own files. */
export class Proxy {
  readonly origin: string;
  readonly #folder: string;
  readonly #certificate: Certificate | undefined;
  readonly #process: Bun.Subprocess;

  /** nginx.conf, with the ports of the two processes behind it. */
  static nginx(port: number, upstream: readonly [number, number]): Promise<Proxy> {
    const [first, second] = upstream.map(String) as [string, string];
    const files = {
      "nginx.conf": read("deploy/proxy/nginx.conf").replace("listen 8080;", `listen 127.0.0.1:${port};`),
      "petstore-upstream.conf": read("deploy/proxy/petstore-upstream.conf")
        .replace(":8081", `:${first}`)
        .replace(":8082", `:${second}`),
      "petstore-http.conf": read("deploy/proxy/petstore-http.conf"),
      "petstore-proxy.conf": read("deploy/proxy/petstore-proxy.conf"),
    };
    return Proxy.#start(`http://127.0.0.1:${port}`, files, nginxCommand);
  }

  /** A site of nginx, as Debian's nginx includes it. */
  static nginxSite(site: string, place: Place): Promise<Proxy> {
    return Proxy.#start(
      `https://localhost:${place.port}`,
      nginxSiteFiles(site, place),
      nginxCommand,
      place.certificate,
    );
  }

  /** A site of Caddy with a certificate from files, because no authority can reach this machine. */
  static caddySite(site: string, { port, plainPort, certificate }: Place): Promise<Proxy> {
    const options = `{\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port ${plainPort}\n}\n`;
    const tls = `https://localhost:${port} {\n\ttls ${certificate.cert} ${certificate.key}`;
    const files = {
      Caddyfile:
        options +
        site
          .replace("http://petstore.example.com {", `http://localhost:${plainPort} {`)
          .replace("petstore.example.com {", tls),
      "petstore-plain.caddy": read("deploy/proxy/petstore-plain.caddy"),
      "petstore-proxy.caddy": read("deploy/proxy/petstore-proxy.caddy"),
    };
    return Proxy.#start(`https://localhost:${port}`, files, caddyCommand, certificate);
  }

  static async #start(
    origin: string,
    files: Readonly<Record<string, string>>,
    command: (folder: string) => string[],
    certificate?: Certificate,
  ): Promise<Proxy> {
    const folder = newFolder(files);
    const proxy = new Proxy(origin, folder, command(folder), certificate);
    const ask = () =>
      proxy.fetch("/openapi.json").then(
        ({ status }) => status,
        () => 0,
      );
    await eventually(ask, (status) => status === 200 || proxy.#process.exitCode !== null);
    if (proxy.#process.exitCode !== null) throw new Error(`The proxy ended: ${await proxy.log()}`);
    return proxy;
  }

  private constructor(
    origin: string,
    folder: string,
    command: readonly string[],
    certificate: Certificate | undefined,
  ) {
    this.origin = origin;
    this.#certificate = certificate;
    this.#folder = folder;
    this.#process = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(folder, "log")),
      env: { HOME: folder },
    });
  }

  /** A request to a path, which trusts the site's authority alone. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.origin + path, this.#certificate ? { ...init, tls: { ca: this.#certificate.ca } } : init);
  }

  /** What it has logged so far. */
  log(): Promise<string> {
    return Bun.file(join(this.#folder, "log")).text();
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.exited;
    rmSync(this.#folder, { recursive: true });
  }
}

/** In the foreground. Its workers are root too, so that they can keep bodies in the folder of a test, which only root may enter. */
const inForeground = ["-e", "stderr", "-g", "daemon off; user root;", "-c"];
/** nginx in the foreground, with the nginx.conf of a folder. */
export const nginxCommand = (folder: string) => [nginx as string, ...inForeground, join(folder, "nginx.conf")];
const fromCaddyfile = ["run", "--adapter", "caddyfile", "--config"];
const caddyCommand = (folder: string) => [caddy as string, ...fromCaddyfile, join(folder, "Caddyfile")];

function newFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "petstore-proxy-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), name === "nginx.conf" ? text.replaceAll("/tmp/", `${folder}/`) : text);
  }
  return folder;
}

/** What Debian's nginx has around a site: the http block and a folder of snippets. */
function nginxSiteFiles(site: string, { port, plainPort, certificate }: Place): Record<string, string> {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path /tmp/${name};`);
  const top = `pid /tmp/nginx.pid; events { worker_connections 8192; } http { ${paths.join(" ")} include site.conf; }`;
  const own = site
    .replaceAll(/^ *listen \[::\].*\n/gm, "") // the machine may have no IPv6
    .replaceAll("listen 80", `listen 127.0.0.1:${plainPort}`)
    .replaceAll("listen 443 ", `listen 127.0.0.1:${port} `)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate.cert};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${certificate.key};`)
    .replaceAll("petstore.example.com", "localhost");
  return {
    "nginx.conf": top,
    "site.conf": own,
    "snippets/petstore-http.conf": read("deploy/proxy/petstore-http.conf"),
    "snippets/petstore-plain.conf": read("deploy/proxy/petstore-plain.conf"),
    "snippets/petstore-proxy.conf": read("deploy/proxy/petstore-proxy.conf"),
  };
}

/** What nginx says of nginx.conf with the processes that a file names; empty if it accepts the configuration. */
export function faultsWith(upstream: string): string {
  const folder = newFolder({
    "nginx.conf": read("deploy/proxy/nginx.conf"),
    "petstore-http.conf": read("deploy/proxy/petstore-http.conf"),
    "petstore-proxy.conf": read("deploy/proxy/petstore-proxy.conf"),
  });
  copyFileSync(join(root, upstream), join(folder, "petstore-upstream.conf"));
  const { exitCode, stderr } = Bun.spawnSync([...nginxCommand(folder), "-t"]);
  rmSync(folder, { recursive: true });
  return exitCode === 0 ? "" : stderr.toString();
}
