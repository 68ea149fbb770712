import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { addUnread } from "./unread.ts";

/** From this length on, a body is sent in pieces: until its client has read it, the runtime would hold a copy of it. */
const LARGE = 65_536;
/** The length of a piece. */
const PIECE = 16_384;
/** After this much, other connections get their turn: the system's buffer can take megabytes. */
const TURN = 16 * PIECE;
type Controller = ReadableStreamDefaultController<Uint8Array>;

const utf8 = new TextEncoder();

/** The body of one response. A large one counts for the shop until it is read or its client has left. */
export function bodyOf(text: string, shop: number | undefined): string | ReadableStream<Uint8Array> {
  if (text.length < LARGE) return text;
  let sent = 0;
  const next = () => {
    if (sent >= text.length) return undefined;
    const from = sent;
    sent += PIECE;
    if (/[\uD800-\uDBFF]/.test(text.charAt(sent - 1))) sent--; // half a character
    return utf8.encode(text.slice(from, sent));
  };
  if (shop === undefined) return inPieces(next);
  addUnread(shop, text.length);
  return inPieces(next, () => addUnread(shop, -text.length));
}

/** Makes the bodies of many responses. They share the bytes. */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): () => Blob | ReadableStream<Uint8Array> {
  if (bytes.length < LARGE) {
    const blob = new Blob([bytes]);
    return () => blob;
  }
  return () => {
    let sent = 0;
    return inPieces(async () => {
      if (sent > 0 && sent % TURN === 0) await new Promise(setImmediate);
      return sent < bytes.length ? bytes.subarray(sent, (sent += PIECE)) : undefined;
    });
  };
}

/** `next` returns the next piece whenever the connection has taken the one before; undefined at the end. */
function inPieces(next: () => MaybePromise<Uint8Array | undefined>, ended = () => {}): ReadableStream<Uint8Array> {
  const pull = async (controller: Controller) => {
    const piece = await next();
    if (piece) return controller.enqueue(piece);
    ended();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: ended }, { highWaterMark: 0 }); // no internal queue, which would take all
}
