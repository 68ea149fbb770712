// Runs the suite of all platforms in the installed Node. test/interop/client-platforms.tools.test.ts has the others.
import { expect, test } from "bun:test";
import { TestService } from "../../test/harness/service.ts";
import { failuresOf, suiteProgram } from "./suite-program.ts";

test("Node passes the suite, and warns of no listeners that stay", async () => {
  const service = await TestService.start();
  try {
    const program = await suiteProgram({ key: await service.newKey(), baseUrl: service.app.base });
    const child = Bun.spawn(["node", "--input-type=module", "-"], {
      stdin: Buffer.from(program),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, warnings] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect([failuresOf(output), warnings]).toEqual([[], ""]);
  } finally {
    await service.stop();
  }
});
