/** What a simulated stream of events does with one connection. */
interface Connection {
  /** The status of a response that is not a stream. */
  readonly status?: number;
  /** Ids of the events that it sends. */
  readonly events?: readonly number[];
  /** The connection breaks in the middle of an event. */
  readonly breaksOff?: boolean;
  /** The stream goes on, without an event. */
  readonly stays?: boolean;
}

/** An event server that handles its connections as a test says, one after the other. */
export function startEventServer(connections: readonly Connection[]) {
  const [resumedAt, keys]: [(string | null)[], (string | null)[]] = [[], []];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: ({ headers }) => {
      const next = connections[resumedAt.length];
      resumedAt.push(headers.get("last-event-id"));
      keys.push(headers.get("authorization"));
      const { status = 200, events = [], breaksOff = false, stays = false } = next ?? { stays: true };
      if (status !== 200) return Response.json({ code: "not_ready", message: "Later.", status }, { status });
      const text = events.map(
        (id) =>
          `event: pet.created\ndata: {"id":${id},"type":"pet.created","at":"2026-11-21T12:00:00.000Z"}\nid: ${id}\n\n`,
      );
      const start = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        controller.enqueue(
          Buffer.from(`retry: 1\n${text.join("")}${breaksOff ? "event: pet.created\ndata: {}\nid: 9" : ""}`),
        );
        if (!stays) controller.close();
      };
      return new Response(new ReadableStream({ start }), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { base: `http://127.0.0.1:${server.port}/v1`, resumedAt, keys, stop: () => server.stop(true) };
}
