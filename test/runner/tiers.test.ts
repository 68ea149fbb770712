import { expect, test } from "bun:test";
import { join } from "node:path";

const read = (file: string) => Bun.file(join(import.meta.dir, "../..", file)).text();

test("each tier has its npm command, and CI runs all", async () => {
  const { scripts } = JSON.parse(await read("package.json"));
  const commands = { test: "embedded", "test:engines": "engines", "test:system": "system", "test:all": "all" };
  for (const [name, tier] of Object.entries(commands)) expect(scripts[name]).toEndWith(` test/runner/run.ts ${tier}`);
  expect(await read(".ci/run")).toEndWith("\nnpm run --silent test:all\n");
});
