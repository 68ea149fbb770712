// The protocol's own clients with the tools for assistants.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { eventually, programCommand } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

/* oxlint-disable typescript/no-explicit-any -- packages that are not installed with the project have no types here */

const isInstalled = hasInteropTools();
const load = (name: string): Promise<any> => import(Bun.resolveSync(name, interopFolder));

/** Clients by what they are, and the revision that they agree on with the service. */
const clients: readonly [name: string, folder: string, options: object, revision: string][] = [
  ["version 1 of the SDK", "@modelcontextprotocol/sdk/client", {}, "2025-11-25"],
  ["version 2 in its old mode", "@modelcontextprotocol/client", {}, "2025-11-25"],
  ["version 2 in its new mode", "@modelcontextprotocol/client", { versionNegotiation: { mode: "auto" } }, "2026-07-28"],
];

/** Connects a client, over HTTP or with `petstore mcp` as its program. */
async function connect(way: string, folder: string, options: object, key: string) {
  const isOld = folder.includes("sdk");
  const { Client } = await load(isOld ? `${folder}/index.js` : folder);
  const { StdioClientTransport } = await load(isOld ? `${folder}/stdio.js` : `${folder}/stdio`);
  const { StreamableHTTPClientTransport } = await load(isOld ? `${folder}/streamableHttp.js` : folder);
  const [command, ...words] = programCommand;
  const transport =
    way === "stdio"
      ? new StdioClientTransport({
          command,
          args: [...words, "mcp"],
          env: { PETSTORE_URL: service.app.base, PETSTORE_KEY: key },
        })
      : new StreamableHTTPClientTransport(new URL("/mcp", service.app.base), {
          requestInit: { headers: { Authorization: `Bearer ${key}` } },
        });
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transport);
  return { client, transport };
}

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(() => service.stop());

describe.skipIf(!isInstalled).each(clients)("%s", (_name, folder, options, revision) => {
  test.each(["HTTP", "stdio"])("calls every tool over %s, and checks the results", async (way) => {
    const { key } = await service.newAccountWithKey("enterprise", undefined, ["read", "write"]);
    const { client, transport } = await connect(way, folder, options, key);
    // Version 1 does not say over stdio what it agreed on.
    expect(client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? revision).toBe(revision);
    expect(client.getInstructions()).toContain("pet store");
    const { tools } = await client.listTools(); // from now on, the client checks results with the schemas
    const called = new Set<string>();
    const call = async (name: string, given: object = {}) => {
      called.add(name);
      return client.callTool({ name, arguments: given });
    };
    const content = async (name: string, given?: object) => {
      const { isError, structuredContent } = await call(name, given);
      expect([name, isError, structuredContent]).toEqual([name, false, expect.any(Object)]);
      return structuredContent;
    };

    const { animal } = await content("add_animal", { name: "Ida", categoryId: "1", status: "available" });
    await content("change_animal", { petId: animal.id, name: "Ada" });
    for (const read of [content("find_animals"), content("read_animals", { ids: [animal.id] })]) {
      expect((await read).animals).toEqual([{ ...animal, name: "Ada" }]);
    }
    const { order } = await content("sell_animal", { petId: animal.id, price_amount: 2_000, currency: "EUR" });
    await content("show_sales", { timeZone: "Europe/Berlin" });
    expect((await content("return_animal", { orderId: order.id })).order.status).toBe("returned");
    expect((await content("list_events", { petId: animal.id })).events.length).toBeGreaterThan(3);
    await content("list_categories");
    await content("shop_summary");
    const { isError, structuredContent } = await call("add_animal", { categoryId: "1" });
    expect([isError, structuredContent.code]).toEqual([true, "invalid_request"]);
    const { requestId } = structuredContent;
    await eventually(async () => !(await call("explain_request", { requestId })).isError);
    expect((await content("explain_request", { requestId })).request.operation).toBe("createPet");
    await content("fast_forward_sandbox", { seconds: 60 });
    expect([...called].toSorted()).toEqual(tools.map(({ name }: { name: string }) => name).toSorted());
    await client.close();
  });

  test("is told that its key has been revoked, and does not try to sign in", async () => {
    const { key, record } = await service.newAccountWithKey("enterprise");
    const { client } = await connect("HTTP", folder, options, key);
    await service.app.keys.revokeKey(record.id, service.clock.now());
    const refusal = await client.callTool({ name: "shop_summary" }).catch((error: Error) => error.message);
    expect(refusal).toContain("was revoked");
    await client.close();
  });
});
