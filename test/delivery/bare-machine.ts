import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority } from "../harness/certificates.ts";
import { root } from "./files.ts";

/** Folders of the machine whose changes stay inside. */
const folders = ["/etc", "/usr/local", "/var", "/root"];

/** Opens a mount and a network namespace, says so, and keeps them until its input ends. */
const open = `
  set -e
  mount -t tmpfs none "$0"
  for folder in ${folders.join(" ")}; do
    mkdir -p "$0/upper$folder" "$0/work$folder"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$0/upper$folder,workdir=$0/work$folder" "$folder"
  done
  mount -t tmpfs none /run
  mkdir /run/lock "$0/stand-ins"
  ip link set lo up
  echo "127.0.0.1 petstore.example.com" >> /etc/hosts
  echo open
  cat > /dev/null
`;

/** The programs that need a running systemd or the internet. */
const standIns = {
  /** Starts what the unit says, as its user, with the settings of its file. */
  systemctl: `
    unit=/etc/systemd/system/petstore.service
    value() { sed -n "s/^$1=//p" "$unit"; }
    start() {
      grep -v '^#' "$(value EnvironmentFile)" > /run/petstore.env
      setsid env -i PATH="$PATH" $(cat /run/petstore.env) setpriv --reuid "$(value User)" --regid "$(value Group)" \\
        --clear-groups $(value ExecStart) > /run/petstore.log 2>&1 &
      echo $! > /run/petstore.pid
    }
    stop() {
      pid=$(cat /run/petstore.pid)
      kill "$pid"
      while readlink "/proc/$pid/exe" > /dev/null; do sleep 0.05; done # a zombie has none
    }
    case "$*" in
      daemon-reload) ! command -v systemd-analyze > /dev/null || systemd-analyze verify "$unit" ;;
      "enable --now petstore" | "start petstore") start ;;
      "stop petstore") stop ;;
      "restart petstore") stop; start ;;
      "reload nginx") nginx -s reload ;;
      "restart caddy")
        sed -i 's|^petstore.example.com {|&\\n\\ttls /run/site.pem /run/site.key|' /etc/caddy/Caddyfile
        HOME=/var/lib/caddy setsid caddy run --config /etc/caddy/Caddyfile > /run/caddy.log 2>&1 &
        echo $! > /run/caddy.pid ;;
      *) echo "systemctl $* is not known to the test" >&2; exit 1 ;;
    esac`,
  /** Starts nginx, as the package does, whose program is here already. */
  "apt-get": `
    case "$*" in *" nginx"*) nginx ;; esac`,
  /** Asks for its own challenge, then writes the certificate. */
  certbot: `
    mkdir -p /var/www/html/.well-known/acme-challenge /etc/letsencrypt/live/petstore.example.com
    echo proof > /var/www/html/.well-known/acme-challenge/one
    [ "$(curl -sf http://petstore.example.com/.well-known/acme-challenge/one)" = proof ]
    cp /run/site.pem /etc/letsencrypt/live/petstore.example.com/fullchain.pem
    cp /run/site.key /etc/letsencrypt/live/petstore.example.com/privkey.pem`,
};

/** This machine with folders and a network of its own, in which commands of root change nothing outside. */
export class BareMachine {
  /** Where the commands are typed. */
  readonly folder = mkdtempSync(join(tmpdir(), "petstore-machine-"));
  #runs = 0;
  readonly #holder: Bun.Subprocess<"pipe", "pipe", "pipe">;

  /** Throws if this machine does not permit it. */
  static async start(): Promise<BareMachine> {
    const machine = new BareMachine();
    const reader = machine.#holder.stdout.getReader();
    const { done } = await reader.read();
    if (done) throw new Error(await new Response(machine.#holder.stderr).text());
    const authority = await Authority.make(machine.folder);
    const { cert, key } = await authority.certify("DNS:petstore.example.com");
    await machine.run(`cp ${cert} /run/site.pem && cp ${key} /run/site.key && cp ${authority.file} /run/authority.pem`);
    for (const [name, text] of Object.entries(standIns)) {
      writeFileSync(join(machine.folder, name), `#!/bin/sh\nset -e${text}\n`);
      await machine.run(`install -m 755 ${name} /usr/local/sbin/${name} && rm ${name}`);
    }
    return machine;
  }

  private constructor() {
    const inside = join(this.folder, "private");
    mkdirSync(inside);
    this.#holder = Bun.spawn(["unshare", "-mn", "--kill-child", "sh", "-c", open, inside], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  /** Types lines as root. Returns what they print; throws if one fails. */
  async run(lines: string, environment: Record<string, string> = {}): Promise<string> {
    const [stdout, stderr] = ["output", "errors"].map((name) => Bun.file(join(this.folder, `${name}-${++this.#runs}`)));
    const enter = ["nsenter", "-t", String(this.#holder.pid), "-m", "-n", "env", "-C", this.folder];
    const child = Bun.spawn([...enter, "bash", "-euo", "pipefail", "-c", lines], {
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...environment },
      stdin: "ignore",
      stdout: stdout as Bun.BunFile, // not a pipe, which what keeps running would hold open
      stderr: stderr as Bun.BunFile,
    });
    const status = await child.exited;
    const [output, errors] = await Promise.all([stdout, stderr].map((file) => (file as Bun.BunFile).text()));
    if (status !== 0) throw new Error(`${lines}\nended with ${status}: ${output}${errors}`);
    return output as string;
  }

  async stop(): Promise<void> {
    await this.run("kill $(cat /run/*.pid) || true");
    void this.#holder.stdin.end();
    await this.#holder.exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Whether this machine permits the namespaces; if not, tests on a bare machine are skipped. */
export const canIsolate =
  process.getuid?.() === 0 &&
  Bun.which("nsenter") !== null &&
  Bun.which("ip") !== null &&
  Bun.spawnSync([
    "unshare",
    "-mn",
    "sh",
    "-c",
    "mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w && mount -t overlay o -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w /etc && ip link set lo up",
  ]).success;

/** The shell blocks of a section of deploy/README.md, in order. */
export async function blocksOf(section: string): Promise<string[]> {
  const text = await Bun.file(join(root, "deploy/README.md")).text();
  const start = text.indexOf(`\n## ${section}\n`);
  if (start < 0) throw new Error(`deploy/README.md has no section ${section}`);
  const end = text.indexOf("\n## ", start + 1);
  return [...text.slice(start, end).matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block);
}
