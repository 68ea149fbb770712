import { expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPetstore } from "../../client/src/testing.ts";
import { eventually, newDataDir, serveSource } from "../harness/program.ts";

const program = serveSource.slice(0, -1);

test("serve --temporary takes no setting, and deletes its folder at the end", async () => {
  const folder = newDataDir();
  const settings = [`TMPDIR=${folder}`, "PETSTORE_ENV=production", "PETSTORE_PORT=1"];
  const { baseUrl, key, stop } = await startPetstore({ command: ["env", ...settings, ...program] });
  expect(readdirSync(folder).length).toBe(1);
  const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  await stop();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

test.each(["SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "it ends, with its data, after %s of what started it",
  async (signal) => {
    const folder = newDataDir();
    const script = `
    const { startPetstore } = await import(${JSON.stringify(join(import.meta.dir, "../../client/src/testing.ts"))});
    console.log((await startPetstore({ command: ${JSON.stringify(program)} })).baseUrl);`;
    // A variable that the service refuses is for another program.
    const env = { ...process.env, TMPDIR: folder, PETSTORE_OF_ANOTHER: "1", PETSTORE_PORT: "none" };
    const starter = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe", stderr: "inherit" });
    const { value } = await starter.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const health = `${new URL(String(value).trim()).origin}/healthz`;
    expect((await fetch(health)).status).toBe(200);
    starter.kill(signal);
    await starter.exited;
    await eventually(() => readdirSync(folder).length === 0);
    expect(await fetch(health).catch(() => "no service")).toBe("no service");
  },
);

test("a program that is missing is named, with what a clone passes", async () => {
  const error = await startPetstore({ command: ["no-such-petstore"] }).catch(String);
  expect(error).toContain("no-such-petstore cannot be started.");
  expect(error).toContain("scripts/petstore.mjs");
});
