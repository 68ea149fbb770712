// The suite of all platforms in Node, as it is on the machine.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { TestService } from "../../test/harness/service.ts";

/** A program that runs the suite and writes the name of each test that passed, and the error of any other. */
const program = `
import * as client from "./index.ts";
import { suite } from "./suite.ts";
const context = { client, key: process.env.SUITE_KEY, baseUrl: process.env.SUITE_URL };
for (const [name, run] of Object.entries(suite)) {
  await Promise.resolve(context).then(run).then(() => console.log("passed", name), (error) => console.log("failed", name, error));
}
`;

test("Node passes the suite", async () => {
  const service = await TestService.start();
  try {
    const { outputs } = await Bun.build({
      entrypoints: ["/program.ts"],
      files: {
        "/program.ts": program
          .replace("./index.ts", join(import.meta.dir, "../src/index.ts"))
          .replace("./suite.ts", join(import.meta.dir, "suite.ts")),
      },
      target: "node",
      format: "esm",
    });
    const child = Bun.spawn(["node", "--input-type=module", "-"], {
      stdin: outputs[0] as Blob,
      stdout: "pipe",
      stderr: "inherit",
      env: { ...process.env, SUITE_KEY: await service.newKey(), SUITE_URL: service.app.base },
    });
    const lines = (await new Response(child.stdout).text()).trim().split("\n");
    expect(lines.filter((line) => !line.startsWith("passed"))).toEqual([]);
    expect(lines.length).toBeGreaterThan(20);
  } finally {
    await service.stop();
  }
});
