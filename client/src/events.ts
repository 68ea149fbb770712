import { type Clock, sleep } from "./clock.ts";
import { type IdKind, parse } from "./json.ts";

/** Milliseconds of silence after which a connection counts as lost. The service says something every 15 seconds. */
const MAX_SILENCE = 30_000;
/** The longest wait before a connection is made again, in milliseconds. */
const MAX_PAUSE = 1_000;

/** An event, and the id behind which a client continues; without an event, nothing has happened. */
type Item = readonly [id: string, event: unknown];

/** The events of one connection (Server-sent events, as the service writes them), and then a pause. */
export async function* readEvents(
  { body }: Response,
  clock: Clock,
  ids: IdKind | undefined,
  signal: AbortSignal,
): AsyncGenerator<Item, void, void> {
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  const stop = () => void reader.cancel().catch(() => {}); // nobody minds how it ends
  signal.addEventListener("abort", stop);
  let text = "";
  try {
    for (;;) {
      const cancel = clock.after(MAX_SILENCE, stop);
      const { value } = await reader.read().catch((): { value?: string } => ({}));
      cancel();
      if (!value) break;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop() as string;
      for (const block of blocks) {
        const [, id, data] = /^id: (\d+)(?:\n.*\ndata: ([^\n]*))?/m.exec(block) ?? [];
        if (id) yield [id, data && parse(data, ids)];
      }
    }
  } finally {
    stop();
  }
  await sleep(clock, Math.random() * MAX_PAUSE, signal);
}

/** The events of one connection after the other. */
export async function* follow(
  connect: (lastEventId: string) => Promise<AsyncIterable<Item>>,
): AsyncGenerator<unknown, never, void> {
  for (let lastId = ""; ; ) {
    for await (const [id, event] of await connect(lastId)) {
      lastId = id;
      if (event) yield event;
    }
  }
}
