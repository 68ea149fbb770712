import { type Static, Type } from "typebox";
import { bind, type Handlers, type Streamed } from "../../src/contract/handler.ts";
import { defineOperation, type Tag } from "../../src/contract/operation.ts";
import { Int64, Text } from "../../src/contract/schemas.ts";
import type { Query } from "../../src/contract/steps.ts";
import type { StreamSink } from "../../src/contract/stream.ts";
import { defineDomain } from "../../src/domains/domain.ts";

const tag: Tag = { name: "ticks", description: "A stream for tests.", stability: "experimental" };
const Tick = Type.Object(
  {
    id: Int64({ description: "The number of the tick.", examples: [1n] }),
    type: Text({ description: "Its kind.", minLength: 1, maxLength: 20, examples: ["tick.soft"] }),
    text: Text({ description: "What it says.", minLength: 0, maxLength: 100_000, examples: ["tick"] }),
  },
  { title: "Tick", description: "A tick." },
);
export type Tick = Static<typeof Tick>;

export const streamTicks = defineOperation({
  tag,
  name: "streamTicks",
  method: "GET",
  path: "/ticks/stream",
  summary: "Follow the ticks",
  description: "Sends ticks as they happen.",
  response: {
    status: 200,
    description: "The ticks.",
    schema: Tick,
    examples: { "A tick": { id: 1n, type: "tick.soft", text: "tick" } },
    stream: { id: "id", event: "type" },
  },
});

const operations = [streamTicks] as const;

/** The source of a stream, controlled by a test. */
export class TickSource {
  /** The clients that listen now. */
  readonly sinks = new Set<StreamSink<Tick>>();
  /** Where each stream was asked to continue, in the order of their start. */
  readonly resumedAt: (bigint | undefined)[] = [];

  /** Sends the same list to every client. */
  send(...ticks: Tick[]): void {
    for (const sink of this.sinks) sink.send(ticks);
  }

  readonly #handlers: Handlers<typeof operations> = {
    streamTicks: ({ lastEventId }) => this.#follow(lastEventId),
  };

  *#follow(lastEventId: bigint | undefined): Query<Streamed<typeof streamTicks>> {
    this.resumedAt.push(lastEventId);
    const start = (sink: StreamSink<Tick>) => {
      this.sinks.add(sink);
      return () => this.sinks.delete(sink);
    };
    return { stream: { position: lastEventId ?? 0n, start } };
  }

  get domain() {
    return defineDomain({
      name: "ticks",
      operations,
      open: () => bind(operations, this.#handlers),
    });
  }
}

export const tick = (id: number, text = "tick"): Tick => ({ id: BigInt(id), type: "tick.soft", text });
