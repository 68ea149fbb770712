import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority } from "../harness/certificates.ts";
import { root } from "./files.ts";

/**
 * Starts systemd over the files of this machine, whose changes stay in memory. Only the machine's own folder is
 * shared. The kernel's settings cannot be written.
 */
const boot = `
  set -e
  share=$1 private=$2 system=$2/system
  mount -t tmpfs none "$private"
  mkdir "$private/upper" "$private/work" "$system"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$private/upper,workdir=$private/work" "$system"
  mount -t tmpfs none "$system/tmp"
  mount -t tmpfs none "$system/run"
  mkdir -p "$system$share" "$system/run/lock"
  mount --bind "$share" "$system$share"
  mount -t proc proc "$system/proc"
  mount --bind "$system/proc/sys" "$system/proc/sys"
  mount -o remount,bind,ro "$system/proc/sys"
  mount -t sysfs -o ro sysfs "$system/sys"
  mount -t cgroup2 cgroup2 "$system/sys/fs/cgroup"
  mount -t tmpfs none "$system/dev"
  mknod -m 666 "$system/dev/null" c 1 3
  mknod -m 666 "$system/dev/zero" c 1 5
  mknod -m 666 "$system/dev/full" c 1 7
  mknod -m 666 "$system/dev/random" c 1 8
  mknod -m 666 "$system/dev/urandom" c 1 9
  mknod -m 666 "$system/dev/tty" c 5 0
  ln -s pts/ptmx "$system/dev/ptmx"
  mkdir "$system/dev/pts" "$system/dev/shm"
  mount -t devpts devpts "$system/dev/pts"
  mount -t tmpfs none "$system/dev/shm"
  ip link set lo up
  cd "$system"
  pivot_root . .
  umount -l .
  exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
    setpriv --bounding-set -sys_time,-sys_module /lib/systemd/systemd --unit=sysinit.target --log-target=null
`;

/** Scripts in place of programs that need the internet or much CPU time. */
const standIns = {
  /** Starts what Debian's packages start, which are here already. */
  "apt-get": `
    case "$*" in
      *" nginx"*) systemctl start nginx ;;
      *" postgresql"*) systemctl start postgresql@15-main ;;
      *" redis-server"*) chown redis:redis /var/lib/redis && systemctl start redis-server ;;
    esac`,
  /** Packs and unpacks for `tar -z` without compressing. */
  gzip: "\nexec cat",
  /** Asks for its own challenge, then writes the certificate. */
  certbot: `
    mkdir -p /var/www/html/.well-known/acme-challenge /etc/letsencrypt/live/shop.example.org
    echo proof > /var/www/html/.well-known/acme-challenge/one
    [ "$(curl -sf http://shop.example.org/.well-known/acme-challenge/one)" = proof ]
    cp /run/site.pem /etc/letsencrypt/live/shop.example.org/fullchain.pem
    cp /run/site.key /etc/letsencrypt/live/shop.example.org/privkey.pem`,
};
/** Gives Caddy a certificate from files, because no authority can reach it. */
const certifyCaddy = String.raw`#!/bin/sh
sed -i 's|^shop.example.org {$|&\n\ttls /run/site.pem /run/site.key|' /etc/caddy/Caddyfile
`;

const groups = () => /^\S+ (\S+) cgroup2 /m.exec(readFileSync("/proc/mounts", "utf8"))?.[1];
let started = 0;

/** A machine that runs systemd, with its own files and network: commands of root change nothing outside. */
export class BareMachine {
  /** Where the commands are typed. */
  readonly folder = mkdtempSync(join(tmpdir(), "petstore-machine-"));
  readonly #private = mkdtempSync(join(tmpdir(), "petstore-private-"));
  readonly #group = join(groups() as string, `petstore-${process.pid}-${++started}`);
  readonly #holder: Bun.Subprocess<"ignore", "ignore", "pipe">;
  #runs = 0;

  /** Throws if this machine does not permit it. Tests on such machines are then skipped. */
  static async start(): Promise<BareMachine> {
    const programs = ["nsenter", "unshare", "setpriv", "ip"].every((name) => Bun.which(name));
    if (process.getuid?.() !== 0 || !programs || !existsSync("/lib/systemd/systemd") || groups() === undefined)
      throw new Error("It needs root, nsenter, unshare, setpriv, ip, systemd and cgroup2.");
    const machine = new BareMachine();
    while (machine.#init === undefined || !(await machine.#isUp())) {
      if (machine.#holder.exitCode !== null) {
        await machine.stop();
        throw new Error(await machine.#holder.stderr.text());
      }
      await Bun.sleep(50);
    }
    for (const [name, text] of Object.entries(standIns)) {
      writeFileSync(join(machine.folder, name), `#!/bin/sh\nset -e${text}\n`);
      await machine.run(`install -m 755 ${name} /usr/local/sbin/${name} && rm ${name}`);
    }
    return machine;
  }

  /** Connects machines to a separate network, in which each has the address in its place. */
  static connect(machines: readonly BareMachine[], addresses: readonly string[]): void {
    const [hub] = machines as readonly [BareMachine, ...BareMachine[]];
    hub.#ip("link", "add", "bridge", "up", "type", "bridge");
    for (const [index, machine] of machines.entries()) {
      const link = ["type", "veth", "peer", "name", `port${index}`];
      hub.#ip("link", "add", "lan", "netns", String(machine.#init), ...link);
      hub.#ip("link", "set", `port${index}`, "master", "bridge", "up");
      machine.#ip("addr", "add", `${addresses[index]}/24`, "dev", "lan");
      machine.#ip("link", "set", "lan", "up");
    }
  }

  private constructor() {
    const enter = 'mkdir "$0" && echo $$ > "$0/cgroup.procs" && exec "$@"';
    const unshare = ["unshare", "-mnuipC", "--fork", "--kill-child=KILL", "bash", "-c", boot, "boot"];
    const words = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", enter, this.#group, ...unshare];
    this.#holder = Bun.spawn([...words, this.folder, this.#private], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
  }

  /** Lets a name lead to an address, and gives the site behind it a certificate, whose authority is in /run. */
  async certify(name: string, address: string): Promise<void> {
    const authority = await Authority.make(this.folder);
    const { cert, key } = await authority.certify(`DNS:${name}`);
    const script = join(this.folder, "certify-caddy");
    writeFileSync(script, certifyCaddy, { mode: 0o755 });
    await this.run(`
      echo "${address} ${name}" >> /etc/hosts
      cp ${cert} /run/site.pem && cp ${key} /run/site.key && cp ${authority.file} /run/authority.pem
      chmod 644 /run/site.*
      mkdir /etc/systemd/system/caddy.service.d
      printf '[Service]\\nExecStartPre=+${script}\\n' > /etc/systemd/system/caddy.service.d/certificate.conf
      systemctl daemon-reload`);
  }

  /** Types lines as root. Returns what they print; throws if one fails. */
  async run(lines: string, environment: Record<string, string> = {}): Promise<string> {
    const [stdout, stderr] = ["output", "errors"].map((name) => Bun.file(join(this.folder, `${name}-${++this.#runs}`)));
    const words = ["env", "-C", this.folder, "bash", "-euo", "pipefail", "-c", lines];
    const child = Bun.spawn([...this.#enter(), ...words], {
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

  /** Ends it as a loss of power does. */
  async stop(): Promise<void> {
    if (this.#init !== undefined) process.kill(this.#init, "SIGKILL");
    await this.#holder.exited;
    if (existsSync(this.#group)) removeGroup(this.#group);
    for (const folder of [this.folder, this.#private]) rmSync(folder, { recursive: true, force: true });
  }

  /** The first process of the machine, as seen from outside. */
  get #init(): number | undefined {
    const { pid } = this.#holder;
    const file = `/proc/${pid}/task/${pid}/children`;
    return existsSync(file) ? Number(readFileSync(file, "utf8").trim().split(" ")[0]) || undefined : undefined;
  }

  #enter(): string[] {
    return ["nsenter", "-t", String(this.#init), "-m", "-n", "-u", "-i", "-p", "-C"];
  }

  async #isUp(): Promise<boolean> {
    const { stdout } = Bun.spawnSync([...this.#enter(), "systemctl", "is-system-running", "--wait"]);
    return /^(running|degraded)$/m.test(stdout.toString());
  }

  #ip(...words: string[]): void {
    const { success, stderr } = Bun.spawnSync(["nsenter", "-t", String(this.#init), "-n", "ip", ...words]);
    if (!success) throw new Error(`ip ${words.join(" ")}: ${stderr.toString()}`);
  }
}

function removeGroup(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(group, entry.name));
  rmdirSync(group);
}

/** Whether this machine permits such machines, which one shows that is started and ended. */
export function canBoot(): Promise<boolean> {
  return BareMachine.start().then(
    (machine) => machine.stop().then(() => true),
    () => false,
  );
}

/** The shell blocks of a section of deploy/README.md, in order. */
export async function blocksOf(section: string): Promise<string[]> {
  const text = await Bun.file(join(root, "deploy/README.md")).text();
  const start = text.indexOf(`\n## ${section}\n`);
  if (start < 0) throw new Error(`deploy/README.md has no section ${section}`);
  const end = text.indexOf("\n## ", start + 1);
  return [...text.slice(start, end).matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block);
}
