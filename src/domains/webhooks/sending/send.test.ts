// One delivery at a receiver that does what it likes. The time limit is a signal that the tests give.
import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { ManualClock, NOON } from "../../../../test/harness/manual-clock.ts";
import {
  message,
  network,
  RawReceiver,
  Receiver,
  type ReceiverOptions,
  sendForever,
} from "../../../../test/harness/webhooks.ts";
import { readExcerpt, send } from "./send.ts";

const toStop: { stop(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const started of toStop.splice(0)) await started.stop();
});

function receiver(options: ReceiverOptions = {}): Receiver {
  const started = new Receiver(options);
  toStop.push(started);
  return started;
}

async function rawReceiver(answer: (socket: Socket) => void): Promise<RawReceiver> {
  const started = await RawReceiver.start(answer);
  toStop.push(started);
  return started;
}

const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}/hook`;

test("a message arrives with its signature", async () => {
  const taking = receiver();
  const sent = message(urlOf(taking));
  const clock = new ManualClock();
  const result = await send(sent, network({ clock }));
  expect(result).toEqual({ failure: undefined, status: 200, excerpt: "taken", retryAfter: undefined, duration: 0 });
  const [{ path, headers, body } = { path: "", headers: new Headers(), body: "" }] = taking.received;
  expect([path, body]).toEqual(["/hook", sent.body]);
  expect(headers.get("host")).toBe(`127.0.0.1:${taking.port}`);
  expect(headers.get("webhook-id")).toBe("msg_1");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("user-agent")).toStartWith("petstore-webhooks/");
});

test("a connection is closed after its response", async () => {
  const raw = await rawReceiver((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: undefined, excerpt: "ok" });
  await raw.closed;
});

describe("the outcome depends on the status", () => {
  test.each([
    [200, undefined],
    [204, undefined],
    [299, undefined],
    [300, "redirected"],
    [304, "redirected"],
    [308, "redirected"],
    [400, "error_status"],
    [410, "error_status"],
    [500, "error_status"],
    [999, "error_status"],
  ] as const)("%i", async (status, failure) => {
    const raw = await rawReceiver((socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`));
    expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure, status, excerpt: "" });
  });

  test("even if the body is cut off", async () => {
    const raw = await rawReceiver((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ntak"));
    expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: undefined, status: 200 });
  });
});

test.each([
  ["120", 120_000],
  [new Date(NOON + 60_000).toUTCString(), 60_000],
  ["soon", undefined],
])("Retry-After %p of a failure is parsed", async (text, retryAfter) => {
  const headers = { "retry-after": text, date: new Date(NOON).toUTCString() };
  const busy = receiver({ respond: () => new Response("busy", { status: 503, headers }) });
  const expected = { failure: "error_status" as const, status: 503, excerpt: "busy", retryAfter };
  expect(await send(message(urlOf(busy)), network())).toEqual({ ...expected, duration: 0 });
});

describe("a redirect with the status", () => {
  test.each([301, 302, 303, 307, 308])("%i is a failure, and is not followed", async (status) => {
    const target = receiver();
    const headers = { location: urlOf(target) };
    const from = receiver({ respond: () => new Response(null, { status, headers }) });
    expect(await send(message(urlOf(from)), network())).toMatchObject({ failure: "redirected", status });
    expect([from.received.length, target.received.length]).toEqual([1, 0]);
  });
});

const excerptOf = async (body: string | Uint8Array<ArrayBuffer>) => {
  const { failure, excerpt } = await send(message(urlOf(receiver({ respond: () => new Response(body) }))), network());
  expect(failure).toBeUndefined();
  return excerpt;
};

describe("the response excerpt is", () => {
  test("at most 1 KiB, also of 1 MB", async () => {
    expect(await excerptOf("a".repeat(1024))).toBe("a".repeat(1024));
    expect(await excerptOf("a".repeat(1_000_000))).toBe("a".repeat(1024));
  });

  test("cut between characters", async () => {
    expect(await excerptOf("🐕".repeat(1000))).toBe("🐕".repeat(256));
    expect(await excerptOf(`a${"🐕".repeat(1000)}`)).toBe(`a${"🐕".repeat(255)}`);
  });

  test("text that each engine can store", async () => {
    expect(await excerptOf(new Uint8Array([0, 65, 255, 66]))).toBe("\uFFFDA\uFFFDB");
  });

  test("the body as it is sent, not decompressed", async () => {
    const packed = Bun.gzipSync("a".repeat(1_000_000));
    const headers = { "content-encoding": "gzip" };
    const { excerpt } = await send(
      message(urlOf(receiver({ respond: () => new Response(packed, { headers }) }))),
      network(),
    );
    expect(excerpt).not.toContain("aaaa");
  });
});

describe("an endless response is cut, and the connection is closed:", () => {
  const start = "HTTP/1.1 200 OK\r\n";
  test.each([
    ["a body", `${start}\r\n`, "a".repeat(10_000)],
    ["chunks", `${start}Transfer-Encoding: chunked\r\n\r\n`, `3e8\r\n${"a".repeat(1000)}\r\n`],
  ])("%s", async (_name, head, more) => {
    const raw = await rawReceiver((socket) => {
      socket.write(head);
      sendForever(socket, more);
    });
    const result = await send(message(urlOf(raw)), network());
    expect(result).toMatchObject({ failure: undefined, status: 200, excerpt: "a".repeat(1024) });
    expect(await raw.closed).toBeGreaterThan(1024);
  });

  test.each([
    ["headers", start, `X-A: ${"a".repeat(1000)}\r\n`],
    ["one header", `${start}X-A: `, "a".repeat(1000)],
  ])("%s", async (_name, head, more) => {
    const raw = await rawReceiver((socket) => {
      socket.write(head);
      sendForever(socket, more);
    });
    expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: "response_invalid" });
    expect(await raw.closed).toBeGreaterThan(1024);
  });
});

/** Sends a message to a receiver, and lets the time run out when it has got the message. */
async function late(answer: (socket: Socket) => void) {
  const expiry = new AbortController();
  const limits: number[] = [];
  const raw = await rawReceiver((socket) => {
    answer(socket);
    setImmediate(() => expiry.abort(new DOMException("late", "TimeoutError")));
  });
  const expire = (milliseconds: number) => {
    limits.push(milliseconds);
    return expiry.signal;
  };
  const result = await send(message(urlOf(raw)), network({ expire }));
  expect(limits).toEqual([15_000]);
  await raw.closed;
  return result;
}

describe("after 15 seconds a delivery ends", () => {
  test("if there is no response", async () => {
    expect(await late(() => {})).toMatchObject({ failure: "timed_out" });
  });

  test("if the header section is incomplete", async () => {
    const result = await late((socket) => socket.write("HTTP/1.1 200 OK\r\nX-A: a"));
    expect(result).toMatchObject({ failure: "timed_out" });
  });

  test("if there are interim responses only", async () => {
    const result = await late((socket) => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10)));
    expect(result).toMatchObject({ failure: "timed_out" });
  });

  test("during DNS resolution", async () => {
    const expiry = new AbortController();
    const resolve = () => {
      setImmediate(() => expiry.abort());
      return new Promise<never>(() => {});
    };
    const result = await send(message("https://hook.test/"), network({ resolve, expire: () => expiry.signal }));
    expect(result).toMatchObject({ failure: "timed_out" });
  });

  test("with the received part of the body, if a status was received", async () => {
    const pieces = ["tak", "en"].map((text) => Buffer.from(text));
    const pull = (stream: ReadableStreamDefaultController) => {
      const piece = pieces.shift();
      if (piece) stream.enqueue(piece);
      else stream.error(new DOMException("late", "TimeoutError"));
    };
    expect(await readExcerpt(new Response(new ReadableStream({ pull })))).toBe("taken");
  });
});

describe("a failure has a code:", () => {
  test("the connection is closed", async () => {
    const raw = await rawReceiver((socket) => socket.end());
    expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: "connection_failed" });
  });

  test("the connection is refused", async () => {
    const raw = await rawReceiver(() => {});
    raw.stop();
    expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: "connection_failed" });
  });

  test.each(["garbage garbage\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"])(
    "what comes is no response: %j",
    async (text) => {
      const raw = await rawReceiver((socket) => socket.write(text));
      expect(await send(message(urlOf(raw)), network())).toMatchObject({ failure: "response_invalid" });
    },
  );

  test("the URL is denied", async () => {
    const taking = receiver();
    const result = await send(message(`http://user:pass@127.0.0.1:${taking.port}/`), network());
    expect(result).toMatchObject({ failure: "url_has_credentials" });
    expect(taking.received).toEqual([]);
  });
});
