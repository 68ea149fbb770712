// Servers that are not the service, or that replaced it: their responses do not get the key sent to another host, and do
// not fill the memory.
import { expect, test } from "bun:test";
import { Petstore } from "../src/index.ts";

const key = "psk_test_of_nobody";

/** Starts a server, calls it once and gives the error of the call. */
async function failureAt(
  handle: (request: Request) => Response,
): Promise<{ name: string; code: string; message: string }> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: handle });
  try {
    const petstore = new Petstore({ key, baseUrl: `http://127.0.0.1:${server.port}/v1`, retries: 0 });
    return await petstore.getCurrentKey().then(
      () => Promise.reject(new Error("The call did not fail.")),
      (error) => error,
    );
  } finally {
    await server.stop(true);
  }
}

test("a redirect is not followed, so that no other host gets the key", async () => {
  let requests = 0;
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => (requests++, Response.json({})) });
  try {
    for (const status of [301, 302, 307, 308]) {
      const failure = await failureAt(() => Response.redirect(`http://127.0.0.1:${other.port}/v1/key`, status));
      expect([failure.name, failure.code]).toEqual(["ConnectionError", "unexpected_response"]);
      expect(failure.message).toContain("redirect");
    }
    expect(requests).toBe(0);
  } finally {
    await other.stop(true);
  }
});

test("an endless response is not read to its end", async () => {
  const piece = new Uint8Array(1_000_000).fill(32);
  let pieces = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        pieces++;
        controller.enqueue(piece);
      },
    });
  const failure = await failureAt(() => new Response(endless()));
  expect([failure.code, failure.message]).toEqual(["unexpected_response", "The response is too large."]);
  expect(pieces).toBeLessThan(200);
});

test("the console shows the code, the request id and the advice of an error", async () => {
  const body = { code: "key_not_found", message: "No key.", status: 404 };
  const failure = await failureAt(() => Response.json(body, { status: 404, headers: { "X-Request-Id": "3f2a-7" } }));
  const shown = Bun.inspect(failure);
  for (const text of ["NotFoundError", "No key.", "key_not_found", "3f2a-7", "Check the identifier"]) {
    expect(shown).toContain(text);
  }
  expect(shown).not.toContain(key);
});
