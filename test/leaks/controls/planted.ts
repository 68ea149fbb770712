// A test that passes while its service answers with a key: the run must fail all the same.
import { expect, test } from "bun:test";
import { generateApiKey } from "../../../src/domains/keys/api-key.ts";

test("a service that gives the sender's key back", async () => {
  const server = Bun.serve({ port: 0, fetch: (request) => new Response(request.headers.get("authorization")) });
  const response = await fetch(server.url, { headers: { Authorization: `Bearer ${generateApiKey("test")}` } });
  expect(await response.text()).toStartWith("Bearer psk_test_");
  await server.stop(true);
});
