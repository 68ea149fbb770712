import { type Clock, waitFor } from "./clock.ts";
import { type IdKind, parse } from "./json.ts";
import { streamOf } from "./outcome.ts";

/** Milliseconds of silence after which a connection counts as lost. The service sends something every 15 seconds. */
const MAX_SILENCE = 30_000;
/** The longest wait before reconnecting, in milliseconds. */
const MAX_PAUSE = 1_000;

/** An event and the id after which to resume. A keep-alive has an id but no event. */
type Item = readonly [id: string, event: unknown];

/** Yields the events of one connection (server-sent events), then waits before the next one. */
export async function* readEvents(
  response: Response,
  clock: Clock,
  ids: IdKind | undefined,
  signal: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const reader = (streamOf(response) as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  let data: string | undefined;
  try {
    for (;;) {
      const { value } = (await waitFor(clock, MAX_SILENCE, signal, () => reader.read())) ?? {};
      if (!value) break;
      const lines = (text + value).split("\n");
      text = lines.pop() as string;
      for (const line of lines) {
        const [, field, rest] = /^(data|id): (.*)/s.exec(line) ?? [];
        if (field === "data") data = rest;
        if (field !== "id") continue;
        // The service writes the id of an event after its data, and ids without an event between the events.
        yield [rest as string, data && parse(data, ids)];
        data = undefined;
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // how it ends does not matter
    (response.body as { destroy?(): void }).destroy?.(); // the stream of Node would wait for the next event
  }
  await waitFor(clock, Math.random() * MAX_PAUSE, signal);
}

/** Yields the events and reconnects after each lost connection. */
export async function* follow(
  connect: (lastEventId: string) => Promise<AsyncIterable<Item>>,
): AsyncGenerator<unknown, never, void> {
  let lastId = "";
  for (;;) {
    for await (const [id, event] of await connect(lastId)) {
      lastId = id;
      if (event) yield event;
    }
  }
}
