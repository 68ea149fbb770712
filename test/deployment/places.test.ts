// The service is started in surroundings that are not the usual ones. It works there, or says in one line what is wrong.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import lock from "../../package-lock.json" with { type: "json" };
import { pathNotFound } from "../../src/contract/errors.ts";
import { FreshCopy } from "../harness/fresh-copy.ts";
import { root } from "./files.ts";

const start = "npm start";

describe("a copy of the project", () => {
  let copy: FreshCopy;
  afterEach(() => copy.stop());
  const get = (path: string) => fetch(`http://127.0.0.1:${copy.port}${path}`);

  test("without development packages serves all but the two pages that need them, which say so", async () => {
    const packages = Object.entries(lock.packages as Record<string, { dev?: boolean; link?: boolean }>)
      .filter(
        ([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link && existsSync(join(root, path)),
      )
      .map(([path]) => path.replace("node_modules/", ""));
    copy = await FreshCopy.make({ packages });
    await copy.start(start);
    for (const path of ["/docs", "/console", "/console/pets"]) {
      const response = await get(path);
      const { code, status } = pathNotFound;
      const message = expect.stringContaining("Run npm ci without --omit=dev");
      expect([path, response.status, await response.json()]).toEqual([path, status, { code, status, message }]);
    }
    for (const path of ["/openapi.json", "/openapi.yaml", "/llms.txt", "/client.js", "/client.tgz", "/readyz"])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect(copy.output).not.toContain('"level":"error"');
    const build = await copy.shell("npm run --silent build");
    expect(build).toEqual({ status: 1, stdout: "", stderr: "A build needs all packages. Run: npm ci\n" });
  });
});
