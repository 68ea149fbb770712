// Kills the service within changes of many animals: every part is whole, what was acknowledged stays, and the same
// request finishes the change.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logViolations } from "../conformance/replay.ts";
import { runJsonInProcess } from "../harness/commands.ts";
import { environment, newKey } from "../harness/keys.ts";
import { readExactly } from "../harness/ledger.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";
import { unlimitedQuota } from "../harness/unlimited.ts";

let dataDir: string;
let program: Program;
let key: string;
beforeEach(async () => {
  dataDir = newDataDir();
  program = await Program.start(dataDir, environment);
  key = await newKey(dataDir, unlimitedQuota);
});
afterEach(async () => {
  await program.end("SIGKILL");
  rmSync(dataDir, { recursive: true });
});

async function restart(): Promise<void> {
  await program.end("SIGKILL");
  program = await Program.start(dataDir, environment);
}

const send = (method: string, path: string, body?: object, idempotencyKey?: string) =>
  fetch(program.base + path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      ...(idempotencyKey && { "Idempotency-Key": idempotencyKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

// oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
function rowsOf(sql: string): any[] {
  const database = new Database(join(dataDir, "petstore.db"), { readonly: true, safeIntegers: true });
  try {
    return database.query(sql).all();
  } finally {
    database.close();
  }
}

function alter(sql: string): void {
  const database = new Database(join(dataDir, "petstore.db"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run(sql);
  database.close();
}

async function violations(): Promise<string[]> {
  const [{ shop }] = rowsOf("SELECT shop FROM pets LIMIT 1");
  const counted = rowsOf("SELECT category_id, animals FROM category_animals WHERE animals <> 0 ORDER BY category_id");
  const actual = rowsOf("SELECT category_id, count(*) AS animals FROM pets GROUP BY category_id ORDER BY category_id");
  expect(counted).toEqual(actual);
  return logViolations(shop, rowsOf, readExactly);
}

test("a category of many animals is moved in parts", async () => {
  for (const id of [1, 2]) await send("POST", "/categories", { id, name: `Category ${id}` });
  const file = join(dataDir, "animals.jsonl");
  const lines = Array.from({ length: 9_000 }, (_, index) => `{"name":"a${index}","categoryId":${index % 3 ? 1 : 3}}\n`);
  writeFileSync(file, lines.join(""));
  await runJsonInProcess(dataDir, ["import", file], environment);

  const moves = "SELECT 1 FROM events WHERE type = 'pets.reassigned'";
  // The fourth part does not end before the kill: it counts combinations of animals.
  alter(`
    CREATE TRIGGER fourth BEFORE INSERT ON events WHEN NEW.type = 'pets.reassigned' AND (SELECT count(*) FROM (${moves})) = 3
      BEGIN SELECT count(*) FROM pets AS a, pets AS b, pets AS c, pets AS d; END
  `);
  let isAnswered = false;
  const deletion = send("DELETE", "/categories/1?moveTo=2").then(
    () => (isAnswered = true),
    () => {},
  );
  await eventually(() => isAnswered || rowsOf(moves).length === 3);
  await program.end("SIGKILL");
  await deletion;
  expect(isAnswered).toBe(false);
  alter("DROP TRIGGER fourth");
  await restart();

  const [{ left }] = rowsOf("SELECT count(*) AS left FROM pets WHERE category_id = 1");
  expect([left, (await send("GET", "/categories/1")).status]).toEqual([3_000n, 200]);
  expect(await violations()).toEqual([]);

  expect((await send("DELETE", "/categories/1?moveTo=2")).status).toBe(204);
  const expected = [
    { category_id: 2n, animals: 6_000n },
    { category_id: 3n, animals: 3_000n },
  ];
  expect(rowsOf("SELECT category_id, count(*) AS animals FROM pets GROUP BY category_id")).toEqual(expected);
  expect((await send("GET", "/categories/1")).status).toBe(404);
  expect(await violations()).toEqual([]);
});

function animals(round: number) {
  return Array.from({ length: 500 }, (_, index) => ({ name: `${round}-${index}`, categoryId: 1 }));
}

test("500 animals are added all or none, and deleted all or none", async () => {
  const [outcomes, before] = [new Set<string>(), new Map<number, number[]>()];
  for (let round = 1; round <= 12; round++) {
    const change =
      round % 2
        ? () => send("POST", "/pets/import", { animals: animals(round) }, `import-${round}`)
        : () => send("POST", "/pets/delete", { ids: before.get(round - 1) }, `delete-${round}`);
    const first = change()
      .then((response) => response.text())
      .catch(() => ""); // the kill may also cut it off after its headers
    await Bun.sleep(5 * Math.ceil(round / 2)); // another moment in each round
    await restart();
    const acknowledged = await first;
    const there = round % 2 ? round : round - 1;
    const [{ count }] = rowsOf(`SELECT count(*) AS count FROM pets WHERE name LIKE '${there}-%'`);
    expect([0n, 500n]).toContain(count);
    if (acknowledged !== "") expect(count).toBe(round % 2 ? 500n : 0n);
    outcomes.add(acknowledged === "" ? "cut off" : "acknowledged");
    const repeated = await change();
    expect(repeated.ok).toBe(true);
    const text = await repeated.text();
    if (acknowledged !== "") expect(text).toBe(acknowledged);
    if (round % 2)
      before.set(
        round,
        JSON.parse(text).animals.map(({ id }: { readonly id: number }) => id),
      );
    else expect(rowsOf("SELECT count(*) AS count FROM pets")).toEqual([{ count: 0n }]);
  }
  expect(outcomes.has("cut off")).toBe(true);
});
