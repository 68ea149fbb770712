import type { Operation } from "../contract/operation.ts";
import { compileSerializer } from "../contract/serialize.ts";

/** The text that clients of a streamed operation receive for a list of events. */
export interface StreamText {
  readonly events: (list: readonly unknown[]) => Uint8Array;
  /** The id of an event. */
  readonly idOf: (event: unknown) => bigint;
}

const encoder = new TextEncoder();

/**
 * Compiles the serializer for server-sent events (HTML standard, section 9.2). A list, and each event in it, is
 * serialized once for all clients, and the text is dropped with it.
 */
export function compileStreamText({ response }: Operation): StreamText | undefined {
  const { stream, schema } = response;
  if (!stream) return undefined;
  const serialize = compileSerializer(schema);
  const known = new WeakMap<object, string>();
  const lists = new WeakMap<object, Uint8Array>();
  const textOf = (event: object) => {
    let text = known.get(event);
    if (text === undefined) {
      const { [stream.id]: id, [stream.event]: name } = event as Readonly<Record<string, unknown>>;
      known.set(event, (text = `id: ${id}\nevent: ${name}\ndata: ${serialize(event)}\n\n`)); // JSON has no line breaks
    }
    return text;
  };
  return {
    events: (list) => {
      let bytes = lists.get(list);
      if (!bytes) lists.set(list, (bytes = encoder.encode((list as readonly object[]).map(textOf).join(""))));
      return bytes;
    },
    idOf: (event) => (event as Readonly<Record<string, bigint>>)[stream.id] as bigint,
  };
}

/** The start of a stream: after how many milliseconds a client reconnects, and from which id. */
export function streamHead(retry: number, position: bigint): Uint8Array {
  return encoder.encode(`retry: ${retry}\nid: ${position}\n\n`);
}

/** A comment that keeps the connection alive, with the id up to which the client has all events. */
export function aliveComment(position: bigint): Uint8Array {
  return encoder.encode(`: nothing new\nid: ${position}\n\n`);
}
