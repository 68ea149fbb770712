import { expect, jest, test } from "bun:test";
import { eventFeed } from "./event-feed.ts";

/** An event in the stream. */
const block = (id: number) => `event: pet.created\ndata: {"id":${id}}\nid: ${id}\n\n`;

test("a message that takes long to forward does not count as silence of the service", async () => {
  const streams: ReadableStreamDefaultController<string>[] = [];
  const start = (stream: ReadableStreamDefaultController<string>) => {
    stream.enqueue(streams.length === 0 ? block(1) + block(2) : block(3));
    streams.push(stream);
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(new ReadableStream({ start })),
  });
  const base = `http://127.0.0.1:${server.port}/v1`;
  const said: string[] = [];
  const say = async (line: string) => void said.push(line);
  const stop = new AbortController();
  const events = eventFeed({ base, key: "psk_test_1", types: undefined, after: undefined, stop: stop.signal, say });
  const nextId = async () => (await events.next()).value?.id;
  jest.useFakeTimers();
  try {
    expect(await nextId()).toBe(1n);
    jest.advanceTimersByTime(60_000);
  } finally {
    jest.useRealTimers();
  }
  expect(await nextId()).toBe(2n);
  const last = nextId();
  try {
    streams[0]?.enqueue(block(3));
  } catch {
    // The connection is closed: the feed gets the event from the next one.
  }
  expect([await last, said]).toEqual([3n, [`Following the events of the sandbox at ${base}.`]]);
  stop.abort();
  await server.stop(true);
});
