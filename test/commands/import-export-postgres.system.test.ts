// `petstore import` and `petstore export` while PostgreSQL dies: a clear message, no partial result, and no process
// that hangs.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseProxy } from "../harness/database-proxy.ts";
import { liftBounds } from "../harness/keys.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, programCommand, runCommand, runJson } from "../harness/program.ts";

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `{"name":"Pet ${from + index}","categoryId":1}\n`).join("");

describe.skipIf(postgresMissing !== undefined)("when PostgreSQL dies,", () => {
  let server: PostgresServer;
  let database: string;
  let folder: string;
  let settings: Record<string, string>;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    database = await server.newDatabase();
    folder = mkdtempSync(join(tmpdir(), "petstore-moving-"));
    settings = { PETSTORE_DATABASE_URL: server.url(database) };
    await runJson(folder, ["accounts", "create", "--name", "x", "--plan", "business"], settings);
    await liftBounds(folder, settings);
  });

  const figure = async (sql: string) => Number((await server.run<{ figure: bigint }>(sql, database))[0]?.figure);
  const count = () => figure("SELECT count(*) AS figure FROM pets");
  const start = (words: readonly string[]) =>
    Bun.spawn([...programCommand, ...words], {
      env: { ...process.env, ...settings },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
  const endOf = async (child: ReturnType<typeof start>) => [
    await child.exited,
    await new Response(child.stderr).text(),
  ];
  test("an import says which lines are in, and continues there", async () => {
    const child = start(["import", "-", "--format", "jsonl"]);
    void child.stdin.write(lines(1, 5_001));
    await child.stdin.flush();
    await eventually(count, (found) => found > 0);
    await server.stop("at once");
    // If it has added all by now, it finds that the server is gone when it adds more.
    void child.stdin.write(lines(5_001, 6_001));
    void child.stdin.end();
    const [status, said] = await endOf(child);
    await server.start();
    const found = await count();
    const known = `Lines 1 to ${found} are in \\(${found.toLocaleString("en")} animals\\)\\. Continue with --from-line ${found + 1}\\.`;
    const unknown = `Lines [0-9]+ to [0-9]+ may be in, all or none: .*--from-line ${found + 1}\\b.*`;
    expect([status, said]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^The store failed: [^.]+\\. (${known}|.*${unknown})\n$`)),
    ]);
    const file = join(folder, "animals.jsonl");
    writeFileSync(file, lines(1, 6_001));
    expect(await runJson(folder, ["import", file, "--from-line", String(found + 1)], settings)).toMatchObject({
      added: 6_000 - found,
    });
    expect(await figure("SELECT count(DISTINCT name) AS figure FROM pets")).toBe(6_000);
  });

  test("an export to a file leaves no file, and reports it", async () => {
    await server.run(
      "INSERT INTO pets (shop, id, name, category_id, added_at) SELECT shop, n, 'Pet ' || n, 1, 0 FROM shops, generate_series(1, 20000) AS n WHERE mode = 'test'",
      database,
    );
    const proxy = await DatabaseProxy.start(server.port);
    const through = { PETSTORE_DATABASE_URL: server.url(database).replace(String(server.port), String(proxy.port)) };
    const file = join(folder, "out.jsonl");
    proxy.cutBefore = "Pet 15000";
    const { status, stderr } = await runCommand(folder, ["export", file], through);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^The store failed: [^.]+\. The file was not written\.\n$/),
    ]);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    proxy.stop();
  });

  test("an export to standard output ends with status 1", async () => {
    await server.run(
      "INSERT INTO pets (shop, id, name, category_id, added_at) SELECT shop, n, 'Pet ' || n, 1, 0 FROM shops, generate_series(1, 100000) AS n WHERE mode = 'test'",
      database,
    );
    const child = start(["export", "-", "--format", "jsonl"]);
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    await server.stop("at once");
    let text = new TextDecoder().decode(value);
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      text += new TextDecoder().decode(piece.value);
    const [status, said] = await endOf(child);
    await server.start();
    expect(text.length).toBeLessThan(lines(0, 100_000).length);
    expect([status, said]).toEqual([
      1,
      expect.stringMatching(/^The store failed: [^.]+\. The output is incomplete\.\n$/),
    ]);
  });
});
