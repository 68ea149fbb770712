/** What a server answers to a command. A text may be null. */
export type Reply = number | string | null | ReplyError | readonly Reply[];

/** A word of a command. */
export type Word = string | number;

/** A server's refusal of a command, in its words, which begin with a code such as `NOSCRIPT`. */
export class ReplyError extends Error {
  override name = "ReplyError";
}

/** A command as it is sent to a server: an array of texts (RESP, "Sending commands to a Redis server"). */
export function encodeCommand(...words: readonly Word[]): string {
  return `*${words.length}\r\n${encodeWords(words)}`;
}

/** Words of a command, without their number in front. */
export function encodeWords(words: readonly Word[]): string {
  // Joined, it is one piece of memory; added up, it would be put together each time that it is sent.
  return words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join("");
}

/** The longest piece of an incomplete reply that is kept, in bytes: the slots of a large cluster have room in it. */
const LONGEST = 1 << 20;
const NOTHING = new Uint8Array(0);
const CARRIAGE_RETURN = 13; // ends each line, with a line feed behind it
const ARRAY = 42; // *
const ERROR = 45; // -
const SIMPLE_TEXT = 43; // +
const INTEGER = 58; // :
const TEXT = 36; // $
const MINUS = 45;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** Reads replies of the Redis serialization protocol, version 2, from pieces of any length. */
export class ReplyReader {
  #bytes: Uint8Array = NOTHING;
  #at = 0;

  /** Takes what has arrived, and gives the replies that are complete now. Throws for what is no reply. */
  read(arrived: Uint8Array): Reply[] {
    this.#bytes = this.#bytes.length === 0 ? arrived : Buffer.concat([this.#bytes, arrived]);
    this.#at = 0;
    const replies: Reply[] = [];
    let complete = 0;
    for (let reply = this.#reply(); reply !== undefined; reply = this.#reply()) {
      replies.push(reply);
      complete = this.#at;
    }
    if (this.#bytes.length - complete > LONGEST) throw noReply();
    // What is left is copied: the rest of the memory may be used again.
    this.#bytes = complete === this.#bytes.length ? NOTHING : Uint8Array.prototype.slice.call(this.#bytes, complete);
    return replies;
  }

  /** The reply that begins here; undefined while it is incomplete. */
  #reply(): Reply | undefined {
    const kind = this.#bytes[this.#at];
    const from = this.#at + 1;
    switch (kind) {
      case INTEGER:
        return this.#integer(from);
      case ARRAY:
        return this.#array(this.#integer(from));
      case TEXT:
        return this.#text(this.#integer(from));
      case SIMPLE_TEXT:
        return this.#line(from);
      case ERROR: {
        const line = this.#line(from);
        return line === undefined ? undefined : new ReplyError(line);
      }
      case undefined:
        return undefined;
      default:
        throw noReply();
    }
  }

  #array(length: number | undefined): Reply[] | null | undefined {
    if (length === undefined) return undefined;
    if (length < 0) return null;
    const items: Reply[] = [];
    while (items.length < length) {
      const item = this.#reply();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  #text(length: number | undefined): string | null | undefined {
    if (length === undefined) return undefined;
    if (length < 0) return null;
    const from = this.#at;
    this.#at += length + 2;
    return this.#at > this.#bytes.length ? undefined : this.#decode(from, from + length);
  }

  #line(from: number): string | undefined {
    const end = this.#bytes.indexOf(CARRIAGE_RETURN, from);
    this.#at = end + 2;
    return end < 0 || this.#at > this.#bytes.length ? undefined : this.#decode(from, end);
  }

  /** The number on the rest of this line. */
  #integer(from: number): number | undefined {
    const bytes = this.#bytes;
    const isNegative = bytes[from] === MINUS;
    let value = 0;
    for (let at = isNegative ? from + 1 : from; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === CARRIAGE_RETURN) {
        this.#at = at + 2;
        return this.#at > bytes.length ? undefined : isNegative ? -value : value;
      }
      if (byte < DIGIT_0 || byte > DIGIT_9) throw noReply();
      value = value * 10 + (byte - DIGIT_0);
    }
    return undefined;
  }

  #decode(from: number, end: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, end - from).toString();
  }
}

function noReply(): Error {
  return new Error("The server answered something that is not of its protocol.");
}
