import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { arePagesMissing } from "../../src/app/web/built.ts";
import { settings } from "../../src/config/service-settings.ts";
import { checkDomains } from "../../src/domains/domain.ts";

/** Builds the program with `bun build` and these options, after a check of the contract: the program does not check it again. */
export function buildProgram(options: readonly string[]): void {
  if (arePagesMissing) {
    console.error("A build needs all packages. Run: npm ci");
    process.exit(1);
  }
  checkDomains(domains, Object.keys(settings));
  const { status, stderr, error } = spawnSync(process.execPath, ["build", "src/main.ts", ...options], {
    cwd: join(import.meta.dir, "../.."),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`bun build ${options.join(" ")} failed: ${error?.message ?? stderr}`);
}
