import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const openssl = Bun.which("openssl");

/** Without a tool that makes certificates, tests that need them are skipped. */
export const canCertify = openssl !== null;

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** A certificate authority for tests, with its files in a folder. */
export class Authority {
  /** The file with its certificate. */
  readonly file: string;
  readonly #folder: string;

  static async make(folder: string): Promise<Authority> {
    const authority = new Authority(folder);
    const files = ["-keyout", "ca.key", "-out", "ca.pem"];
    await authority.#run("req", "-x509", ...newKey, ...files, "-subj", "/CN=Authority", "-days", "2");
    return authority;
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.file = join(folder, "ca.pem");
  }

  /** Its certificate, as PEM. */
  get certificate(): string {
    return readFileSync(this.file, "utf8");
  }

  /** Makes a certificate for `DNS:…` or `IP:…`, as files. With a negative number of days it has expired. */
  async certify(altName: string, days = 2): Promise<{ cert: string; key: string }> {
    const name = `${altName.replaceAll(/[^a-z0-9]/gi, "-")}${days}`;
    const [key, request, cert, extensions] = [`${name}.key`, `${name}.csr`, `${name}.pem`, `${name}.txt`];
    writeFileSync(join(this.#folder, extensions), `subjectAltName=${altName}`);
    await this.#run("req", ...newKey, "-keyout", key, "-out", request, "-subj", "/CN=Server");
    const signer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", String(days)];
    await this.#run("x509", "-req", "-in", request, ...signer, "-extfile", extensions, "-out", cert);
    return { cert: join(this.#folder, cert), key: join(this.#folder, key) };
  }

  async #run(...words: string[]): Promise<void> {
    const child = Bun.spawn([openssl as string, ...words], { cwd: this.#folder, stdout: "ignore", stderr: "pipe" });
    if ((await child.exited) !== 0) throw new Error(await child.stderr.text());
  }
}
