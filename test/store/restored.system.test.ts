// After a restore, the ids of later events are given again. No reader may take a new event for an earlier one.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { scopes } from "../../src/contract/caller.ts";
import { newKeyIn } from "../harness/keys.ts";
import { nextOf } from "../harness/next-page.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";
import { eventually, newDataDir, Program, runCommand, runJson } from "../harness/program.ts";
import { secretKey } from "../harness/webhook-service.ts";
import { Receiver } from "../harness/webhooks.ts";

/** Backs up the store in the folder or database of the settings. Returns a function that restores it, with its output. */
type TakeBackup = (dataDir: string, settings: Record<string, string>) => Promise<() => Promise<Record<string, string>>>;

function restoring(newSettings: () => Promise<Record<string, string>>, takeBackup: TakeBackup): void {
  test("receivers take each new event, cursors are refused, and ids that do not exist are 410", async () => {
    const dataDir = newDataDir();
    const settings = { PETSTORE_SECRET_KEY: secretKey, ...(await newSettings()) };
    const { key } = await newKeyIn(dataDir, { plan: "business", scopes: [...scopes], settings });
    let program = await Program.start(dataDir, settings);
    const call = (method: string, path: string, body?: unknown, headers = {}) =>
      fetch(program.base + path, {
        method,
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const add = async (name: string) => expect((await call("POST", "/pets", { name, categoryId: 1 })).status).toBe(201);
    /** Its events, by the id that it would recognize a repetition by. */
    const taken = new Map<string | null, string>();
    const receiver = new Receiver({
      respond: ({ headers, body }) => {
        const id = headers.get("webhook-id");
        if (!taken.has(id)) taken.set(id, JSON.parse(body).data.data.name as string);
        return new Response("taken");
      },
    });
    const hasTaken = (name: string) => eventually(() => [...taken.values()].includes(name));
    const endpoint = { url: `http://127.0.0.1:${receiver.port}/`, types: ["pet.created"] };
    expect((await call("POST", "/webhook-endpoints", endpoint)).status).toBe(201);
    await add("before");
    await hasTaken("before");
    const restore = await takeBackup(dataDir, settings);
    for (const name of ["lost 1", "lost 2", "lost 3"]) await add(name);
    for (const name of ["lost 1", "lost 2", "lost 3"]) await hasTaken(name);
    const newest = ((await (await call("GET", "/events?sort=-id&limit=1")).json()) as { id: number }[])[0]?.id;
    const next = nextOf(await call("GET", "/pets?limit=1")) ?? "";
    expect((await call("GET", next)).status).toBe(200);
    expect(await program.end()).toBe(0);

    program = await Program.start(dataDir, { ...settings, ...(await restore()) });
    const poll = () => call("GET", `/events?after=${newest}`);
    const statuses = [
      await poll(),
      await call("GET", `/events?after=${newest}&sort=-id`),
      await call("GET", "/events/stream", undefined, { "Last-Event-ID": String(newest) }),
      await call("GET", `/events/stream?after=${newest}`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([410, 410, 410, 410]);
    expect(await (await poll()).json()).toMatchObject({ code: "events_expired" });
    expect((await call("GET", next)).status).toBe(400);
    for (const name of ["new 1", "new 2", "new 3"]) await add(name);
    for (const name of ["new 1", "new 2", "new 3"]) await hasTaken(name); // although their ids are those of lost ones
    expect((await poll()).status).toBe(200); // its id exists again, which nobody can tell
    expect(await program.end()).toBe(0);
    await receiver.stop();
  });
}

describe("a restored embedded store", () => {
  restoring(
    async () => ({}),
    async (dataDir, settings) => {
      const backup = join(newDataDir(), "backup.db");
      await runJson(dataDir, ["backups", "take", "--file", backup]);
      return async () => {
        expect((await runCommand(dataDir, ["restore", backup, "--yes"], settings)).stderr).toBe("");
        return {};
      };
    },
  );

  test("needs a backup", async () => {
    const { status, stderr } = await runCommand(newDataDir(), ["restore", "--yes"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("restore needs FILE")]);
  });
});

describe.skipIf(postgresMissing !== undefined)("a database that was restored with tools of PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await PostgresServer.start()));
  afterAll(() => server.remove());

  restoring(
    async () => ({ PETSTORE_DATABASE_URL: server.url(await server.newDatabase()) }),
    async (dataDir, settings) => {
      const name = new URL(settings["PETSTORE_DATABASE_URL"] ?? "").pathname.slice(1);
      const copied = await eventually(async () => {
        await server.killSessions(); // a database in use cannot be copied, and the service connects again
        return server.newDatabase(name).catch(() => "");
      });
      const copy = { PETSTORE_DATABASE_URL: server.url(copied) };
      return async () => {
        const { status, stdout } = await runCommand(dataDir, ["restore", "--yes"], copy);
        expect([status, stdout]).toEqual([0, expect.stringContaining("as restored")]);
        return copy;
      };
    },
  );
});
