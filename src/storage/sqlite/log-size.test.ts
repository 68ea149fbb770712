import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../test/harness/program.ts";
import { migrations } from "../../app/schema.ts";
import { change } from "../statement.ts";
import { all } from "../transaction.ts";
import { SqliteStorage } from "./sqlite-storage.ts";

const MB = 1024 * 1024;

/** Adds 100,000 animals with long names in one transaction: about 28 MB. */
const addMany = change<[name: string]>(`
  WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 100000)
  INSERT INTO pets (shop, id, name, category_id, added_at) SELECT 1, n, $1, 1, 0 FROM more
`);
const rename = change<[name: string]>("UPDATE pets SET name = $1 WHERE shop = 1 AND id = 1");

test("the write-ahead log shrinks after a large transaction", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-log-"));
  const file = join(folder, "petstore.db");
  const storage = new SqliteStorage(file, migrations);
  const logSize = () => statSync(`${file}-wal`).size;
  await storage.write(() => all(addMany, "x".repeat(255)));
  expect(logSize()).toBeGreaterThan(20 * MB);
  await eventually(
    async () => {
      await storage.write(() => all(rename, "Rex"));
      return logSize();
    },
    (size) => size <= 16 * MB,
    20_000,
  );
  await storage.close();
  rmSync(folder, { recursive: true });
});
