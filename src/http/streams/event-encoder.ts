import type { Operation } from "../../contract/operation.ts";
import { INT64_MAX } from "../../contract/schemas.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import type { StreamSource } from "../../contract/stream.ts";

/** Encodes the events of a streamed operation. */
export type EventEncoder = NonNullable<ReturnType<typeof compileEventEncoder>>;

/** Milliseconds after which a client whose stream has ended should reconnect. */
const RECONNECT_DELAY = 1_000;

/** The events of one stream, and their encoder. */
export interface EncodedStream {
  readonly source: StreamSource<unknown>;
  readonly encoder: EventEncoder;
}

const utf8 = new TextEncoder();

/**
 * Compiles the encoder for server-sent events (HTML standard, section 9.2). A list, and each event in it, is encoded once
 * for all clients, and the result is dropped with it.
 *
 * Some clients resume after an id as soon as they have read its line. So an event's id comes after its data. Some also
 * hand on each block that ends with an empty line, even without data. So there is no empty line after an id alone: for
 * the standard, that id belongs to the next event, which replaces it.
 */
export function compileEventEncoder({ response }: Operation) {
  const { stream, schema } = response;
  if (!stream) return undefined;
  const serialize = compileSerializer(schema);
  const texts = new WeakMap<object, string>();
  const lists = new WeakMap<object, Uint8Array>();
  const textOf = (event: object) => {
    let text = texts.get(event);
    if (text === undefined) {
      const { [stream.id]: id, [stream.event]: name } = event as Readonly<Record<string, unknown>>;
      texts.set(event, (text = `event: ${name}\ndata: ${serialize(event)}\nid: ${id}\n\n`)); // JSON has no line breaks
    }
    return text;
  };
  return {
    /** What clients receive for a list of events. */
    encode: (list: readonly unknown[]) => {
      let bytes = lists.get(list);
      if (!bytes) lists.set(list, (bytes = utf8.encode((list as readonly object[]).map(textOf).join(""))));
      return bytes;
    },
    /** The id of an event. */
    idOf: (event: unknown) => (event as Readonly<Record<string, bigint>>)[stream.id] as bigint,
  };
}

/**
 * The last bytes of a stream whose ids start again: from then on, its client names an id that no event has. The empty line
 * is for clients that follow the standard.
 */
export const endOfLog = utf8.encode(`id: ${INT64_MAX}\n\n`);

/** The start of a stream: when and from which id its client reconnects. */
export function streamHead(position: bigint): Uint8Array {
  return utf8.encode(`retry: ${RECONNECT_DELAY}\nid: ${position}\n`);
}

/** A comment that keeps the connection alive, with the id up to which the client has all events. */
export function aliveComment(position: bigint): Uint8Array {
  return utf8.encode(`id: ${position}\n: nothing new\n`);
}
