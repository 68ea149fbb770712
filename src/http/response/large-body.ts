import type { MaybePromise } from "../../timing/maybe-promise.ts";

/** From this length on, a body is sent in pieces: until its client has read it, the runtime would hold a copy of it. */
const LARGE = 65_536;
/** The length of a piece. */
const PIECE = 16_384;
/** After this much, other connections get their turn: the system's buffer can take megabytes. */
const TURN = 16 * PIECE;
/** How many bytes clients may leave unread in total before the shops that leave most get no more. */
const MAX_UNREAD = 32 * 1024 * 1024;
type Controller = ReadableStreamDefaultController<Uint8Array>;

const utf8 = new TextEncoder();

/** What clients have not read yet of large bodies and streams: of each shop, and of all. */
export class Unread {
  readonly #ofShop = new Map<number, number>();
  #total = 0;

  /** Counts bytes for a shop until it is called again with as many less. */
  add(shop: number, bytes: number): void {
    this.#total += bytes;
    const ofShop = (this.#ofShop.get(shop) ?? 0) + bytes;
    if (ofShop === 0) this.#ofShop.delete(shop);
    else this.#ofShop.set(shop, ofShop);
  }

  /** True if too much is unread, and the shop has left at least the average. */
  isTooMuchOf(shop: number): boolean {
    return this.#total > MAX_UNREAD && (this.#ofShop.get(shop) ?? 0) >= this.#total / this.#ofShop.size;
  }

  /** The body of a response to a shop. A large one counts until it is read or its client has left. */
  bodyOf(text: string, shop: number): string | ReadableStream<Uint8Array> {
    if (text.length < LARGE) return text;
    this.add(shop, text.length);
    return bodyOf(text, () => this.add(shop, -text.length));
  }
}

/** The body of one response. `ended` is called when a large one is read or its client has left. */
export function bodyOf(text: string, ended?: () => void): string | ReadableStream<Uint8Array> {
  if (text.length < LARGE) return text;
  let sent = 0;
  const next = () => {
    if (sent >= text.length) return undefined;
    const from = sent;
    sent += PIECE;
    if (/[\uD800-\uDBFF]/.test(text.charAt(sent - 1))) sent--; // half a character
    return utf8.encode(text.slice(from, sent));
  };
  return inPieces(next, ended);
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
