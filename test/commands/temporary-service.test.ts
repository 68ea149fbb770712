import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPetstore } from "../../client/src/testing.ts";
import { serveSource } from "../harness/program.ts";

test("serve --temporary takes no setting, and deletes its folder at the end", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-temporary-"));
  const settings = [`TMPDIR=${folder}`, "PETSTORE_ENV=production", "PETSTORE_PORT=1"];
  const { baseUrl, key, stop } = await startPetstore({ command: ["env", ...settings, ...serveSource.slice(0, -1)] });
  expect(readdirSync(folder).length).toBe(1);
  const response = await fetch(`${baseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  await stop();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
