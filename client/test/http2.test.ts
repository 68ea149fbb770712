// A receiver of webhooks that serves HTTP/2.
import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { verifyWebhook } from "../src/index.ts";

// The example of the standard.
const body = '{"test": 2432232314}';
const headers = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

test("the headers of a request over HTTP/2 are verified", async () => {
  const server = createServer((request, response) => {
    const verified = verifyWebhook(body, request.headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", {
      now: 1_614_265_330_000,
    });
    verified.then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const stream = session.request({ ":method": "POST", ":path": "/hook", ...headers });
    stream.end(body);
    const [reply] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(reply[":status"]).toBe(204);
  } finally {
    session.destroy();
    server.close();
  }
});
