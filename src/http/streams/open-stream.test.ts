import { expect, test } from "bun:test";
import { readStream } from "../../../test/harness/server-sent-events.ts";
import { streamTicks, tick } from "../../../test/harness/ticks.ts";
import { Unread } from "../response/response.ts";
import { compileEventEncoder, type EventEncoder } from "./event-encoder.ts";
import { OpenStream, type StreamEnd } from "./open-stream.ts";

const encoder = compileEventEncoder(streamTicks) as EventEncoder;

/** A stream that started at time 0, and the data that its client reads. */
function open() {
  const ends: StreamEnd[] = [];
  const stream = new OpenStream(encoder, 1, 3n, new Unread(), 0, (reason) => ends.push(reason));
  const reader = stream.body.getReader();
  let got = "";
  const read = async () => {
    const { value } = await reader.read();
    got += new TextDecoder().decode(value);
    return readStream(got);
  };
  return { stream, ends, read, reader };
}

test("a client gets a comment after 15 s of silence, with the id up to which it has received everything", async () => {
  const { stream, read } = open();
  await read();
  stream.sweep(1_000); // the first data was sent before
  stream.skipTo(9n);
  stream.sweep(15_999);
  stream.send([tick(10)]);
  expect((await read()).comments).toEqual([]);
  stream.sweep(16_000);
  stream.skipTo(12n);
  stream.sweep(30_999);
  stream.sweep(31_000);
  const { comments, newestId, lastId } = await read();
  expect([comments.length, newestId, lastId]).toEqual([1, "12", "10"]);
  stream.sweep(45_999);
  stream.sweep(46_000);
  expect((await read()).comments).toHaveLength(2);
});

test("the id to resume from never decreases", async () => {
  const { stream, read } = open();
  stream.skipTo(2n);
  stream.sweep(0);
  stream.sweep(15_000);
  expect((await read()).newestId).toBe("3");
  expect((await read()).newestId).toBe("3");
});

test("a stream ends after an hour, once, with all events from before", async () => {
  const { stream, ends, read, reader } = open();
  await read();
  const next = read(); // its client waits for more
  stream.sweep(3_599_999);
  expect(ends).toEqual([]);
  stream.send([tick(4)]);
  stream.sweep(3_600_000);
  stream.sweep(3_600_001);
  stream.send([tick(5)]);
  expect(ends).toEqual(["max_age"]);
  expect((await next).events.map(({ id }) => id)).toEqual(["4"]);
  expect((await reader.read()).done).toBe(true);
});

test("drained resolves when everything is read, and at the end", async () => {
  const { stream, read } = open();
  let isDrained = false;
  const drained = stream.drained().then(() => void (isDrained = true));
  await Promise.resolve();
  expect(isDrained).toBe(false);
  await read();
  void read(); // the connection waits for more data
  await drained;
  stream.send([tick(4)]);
  const waiting = stream.drained();
  stream.end();
  await Promise.all([waiting, stream.drained()]);
});

test("a stream whose ids start again leaves its client with an id that no event has, however much is unread", async () => {
  const { stream, ends, read, reader } = open();
  stream.send([tick(4, "x".repeat(512 * 1024 - 100))]);
  stream.endLog();
  stream.endLog();
  for (let part = 0; part < 2; part++) await read();
  const { events, lastId } = await read();
  expect([events.map(({ id }) => id), lastId]).toEqual([["4"], "9223372036854775807"]);
  expect([ends, (await reader.read()).done]).toEqual([["source_ended"], true]);
});

test("a client that does not read may have half a megabyte waiting, and loses it when it has more", async () => {
  const { stream, ends, reader } = open();
  stream.send([tick(4, "x".repeat(500_000))]);
  expect(ends).toEqual([]);
  stream.send([tick(5, "x".repeat(50_000))]);
  expect([ends, stream.isOpen]).toEqual([["slow_client"], false]);
  expect((await reader.read()).done).toBe(true);
});

test("a client that takes nothing for 30 s loses its stream", async () => {
  const { stream, ends, read } = open();
  await read();
  void read();
  stream.sweep(60_000);
  stream.send([tick(4)]);
  for (let now = 61_000; now < 90_000; now += 1_000) stream.sweep(now);
  expect(ends).toEqual([]);
  stream.sweep(90_000);
  expect(ends).toEqual(["slow_client"]);
});
