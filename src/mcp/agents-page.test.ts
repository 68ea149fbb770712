// docs/agents.md: each call of its conversation succeeds, and its configurations are complete.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../../test/harness/agents.ts";
import { TestService } from "../../test/harness/service.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/agents.md"), "utf8");

test("each call of the conversation succeeds", async () => {
  const service = await TestService.start();
  try {
    const agent = new Agent(service, (await service.newAccountWithKey("enterprise")).key);
    const calls = [...page.matchAll(/^([a-z_]+) (\{.*\})$/gm)].map(
      ([, name = "", given = ""]) => [name, given] as const,
    );
    expect(calls.length).toBeGreaterThan(4);
    for (const [name, given] of calls) await agent.content(name, JSON.parse(given));
    expect((await agent.content("find_animals")).animals).toHaveLength(1);
  } finally {
    await service.stop();
  }
});

test("each configuration has the address and the header of the key", () => {
  const [vsCode, cursor] = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, text = ""]) => JSON.parse(text));
  for (const { url, headers } of [vsCode.servers.petstore, cursor.mcpServers.petstore]) {
    expect([url, headers.Authorization]).toEqual([
      "https://api.example.org/mcp",
      expect.stringMatching(/^Bearer \$\{/),
    ]);
  }
  expect(page).toContain('https://api.example.org/mcp --header "Authorization: Bearer ');
});
