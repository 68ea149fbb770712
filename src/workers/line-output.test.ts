import { expect, test } from "bun:test";
import { LineOutput } from "./line-output.ts";

const stream = (...parts: (string | Uint8Array)[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? new TextEncoder().encode(part) : part);
      controller.close();
    },
  });

test("lines of several processes stay whole, however they are split", async () => {
  let written = "";
  const output = new LineOutput(async (text) => {
    const half = Math.floor(text.length / 2); // like a pipe that accepts only part of it
    written += text.slice(0, half);
    await new Promise(setImmediate);
    written += text.slice(half);
  });
  const cat = new TextEncoder().encode("猫 1\n");
  await Promise.all([
    output.copy(stream("a 1\na", " 2\na 3", "\n")),
    output.copy(stream("b 1", "\nb 2\n")),
    output.copy(stream(cat.slice(0, 1), cat.slice(1))),
    output.write("c 1\n"),
  ]);
  const lines = written.split("\n");
  expect(lines.filter((line) => line.startsWith("a"))).toEqual(["a 1", "a 2", "a 3"]);
  expect(lines.toSorted()).toEqual(["", "a 1", "a 2", "a 3", "b 1", "b 2", "c 1", "猫 1"]);
});

test("the incomplete line of a killed process is dropped", async () => {
  let written = "";
  await new LineOutput(async (text) => void (written += text)).copy(stream('{"a":1}\n{"a"'));
  expect(written).toBe('{"a":1}\n');
});

test("the output continues if nobody reads it", async () => {
  let attempts = 0;
  const output = new LineOutput(() => {
    attempts++;
    return Promise.reject(new Error("EPIPE"));
  });
  await output.copy(stream("a\n"));
  await output.write("b\n");
  expect(attempts).toBe(2);
});
