// The service as a separate process, on a disk that fails.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newKeyIn } from "../harness/keys.ts";
import { newDataDir, Program, programCommand, runJson, serveCommand } from "../harness/program.ts";
import { secretKey } from "../harness/webhook-service.ts";
import { canInject } from "./faulty-disk.ts";

/** Makes every sync of the disk fail. */
const failingSyncs = [
  "strace",
  "-f",
  "--seccomp-bpf",
  "-o",
  "/dev/null",
  "-e",
  "trace=fsync,fdatasync",
  "-e",
  "inject=fsync,fdatasync:error=EIO",
];
describe.skipIf(!canInject)("a sync that fails", () => {
  test("ends the service at once, without an orderly stop and without acknowledging the write", async () => {
    // With the key of webhooks, which the first start would sync into the data folder.
    const settings = { PETSTORE_ENV: "staging", PETSTORE_SECRET_KEY: secretKey };
    const dataDir = newDataDir();
    const { key } = await newKeyIn(dataDir, { settings });
    expect(await (await Program.start(dataDir, settings)).end()).toBe(0); // the first start writes to the store, too
    const program = await Program.start(dataDir, settings, [...failingSyncs, ...serveCommand]);
    const status = await fetch(`${program.base}/pets`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: '{"name":"Rex","categoryId":1}',
    }).then(
      (response) => response.status,
      () => "closed",
    );
    expect(["closed", 503]).toContain(status);
    expect(await program.child.exited).toBe(1);
    expect(program.output).not.toContain('"event":"stopping"');
    await program.until(() => program.output.includes('"event":"store_unusable"'));
    await program.until(() => program.errors.includes("\n"));
    expect(program.errors).toBe(
      `The store at ${join(dataDir, "petstore.db")} failed: disk I/O error. The service ended at once, because it is ` +
        "not known what is on disk. Look at the disk, and start it again.\n",
    );
    expect(await runJson(dataDir, ["keys", "list"], settings)).toHaveLength(1);
  });

  test("during an import does not report that nothing was added", async () => {
    const dataDir = newDataDir();
    await runJson(dataDir, ["accounts", "create", "--name", "x", "--plan", "pro"]);
    const file = join(dataDir, "animals.jsonl");
    writeFileSync(file, '{"name":"Rex","categoryId":1}');
    const child = Bun.spawn([...failingSyncs, ...programCommand, "import", file], {
      env: { ...process.env, PETSTORE_DATA_DIR: dataDir },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toMatch(
      /^The store failed: .*\. Lines 1 to 1 may be in, all or none: if .* shows "Rex", continue with --from-line 2, else /,
    );
  });
});
