import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually, newDataDir, Program, runJson } from "./harness/program.ts";

describe("stopping", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s under load loses no request", async (signal) => {
    const program = await Program.start(newDataDir(), { PETSTORE_ENV: "staging" });
    const account = await runJson(
      program.dataDir,
      [
        "accounts",
        "create",
        "--name",
        "x",
        "--plan",
        "enterprise",
        "--per-minute",
        "10000000",
        "--per-day",
        "10000000",
      ],
      { PETSTORE_ENV: "staging" },
    );
    const { key } = await runJson(program.dataDir, ["keys", "create", "--account", account.id], {
      PETSTORE_ENV: "staging",
    });
    let refused = false;
    let signalled = false;
    let answered = 0;
    const broken: string[] = [];
    const client = async () => {
      while (!refused) {
        try {
          const response = await fetch(`${program.base}/pets`, {
            method: "POST",
            headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
            body: '{"name":"Rex","categoryId":1}',
          });
          await response.text();
          if (response.status === 201) answered++;
          else broken.push(String(response.status));
        } catch (error) {
          if ((error as { code?: string }).code === "ECONNREFUSED") refused = true;
          else broken.push(String((error as { code?: string }).code));
        }
        if (answered >= 500 && !signalled) {
          signalled = true;
          program.child.kill(signal);
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(await program.child.exited).toBe(0);
    expect(broken).toEqual([]);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(program.dataDir, "petstore.db"), { readonly: true });
    expect(database.query("SELECT count(*) AS count FROM pets").get()).toEqual({ count: answered });
    database.close();
  });

  test("a second signal ends the service at once", async () => {
    const program = await Program.start(newDataDir());
    program.child.kill("SIGTERM");
    await program.until(() => program.output.includes('"event":"stopping"'));
    expect(await program.end("SIGTERM")).toBe(143);
  });

  test("ends within 15 seconds, though a request hangs and another process holds the store", async () => {
    const program = await Program.start(newDataDir());
    const key = /psk_test_\w+/.exec(program.output)?.[0];
    const headers = { Authorization: `Bearer ${key}` };
    const unfinished = await Bun.connect({
      hostname: "127.0.0.1",
      port: program.port,
      socket: { data: () => {} },
    });
    unfinished.write(
      `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name"',
    );
    unfinished.flush();
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(program.dataDir, "petstore.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run("BEGIN IMMEDIATE");
    expect((await fetch(`${program.base}/pets`, { headers })).status).toBe(200); // a count to be saved
    const before = performance.now();
    expect(await program.end()).toBe(0);
    expect(performance.now() - before).toBeLessThan(15_000); // the promise of the design, not a speed
    await program.until(() => program.output.includes('"level":"warn","event":"the store was not free in time"'));
    database.run("ROLLBACK");
    database.close();
    unfinished.end();
    expect(await runJson(program.dataDir, ["keys", "list"])).toHaveLength(1);
  });

  test("what was acknowledged is there after kill -9, and the day's count is at most a second old", async () => {
    const dataDir = newDataDir();
    const first = await Program.start(dataDir);
    const key = /psk_test_\w+/.exec(first.output)?.[0] as string;
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const create = (name: string) =>
      fetch(`${first.base}/pets`, { method: "POST", headers, body: JSON.stringify({ name, categoryId: 1 }) });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => create(`Animal ${index}`)));
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    const { Database } = await import("bun:sqlite");
    const database = new Database(join(dataDir, "petstore.db"), { readonly: true });
    await eventually(
      async () => database.query<{ day_used: number }, []>("SELECT day_used FROM limit_windows").get()?.day_used,
      (used) => used === 100,
    );
    database.close();
    await first.end("SIGKILL");
    const second = await Program.start(dataDir);
    const response = await fetch(`${second.base}/pets?limit=100`, { headers });
    expect(
      ((await response.json()) as { name: string }[]).filter(({ name }) => name.startsWith("Animal")),
    ).toHaveLength(94);
    const left = 1000 - 101;
    expect(Number(response.headers.get("x-ratelimit-remaining"))).toBe(left);
    await second.end();
  });
});
