import { CommandFailed } from "../../../terminal/command.ts";
import { readRetryAfter } from "../sending/backoff.ts";

/** A connection that receives nothing for this long, in milliseconds, is closed: the service sends a comment every 15 s. */
const SILENCE = 30_000;
/** The longest pause between two attempts to connect, in milliseconds, unless the service asks for a longer one. */
const LONGEST_WAIT = 30_000;

/** An event as the stream sent it. */
export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly json: string;
}

interface FeedOptions {
  /** The base address of the service. */
  readonly base: string;
  readonly key: string;
  readonly types: string | undefined;
  /** The id of the event to start after; undefined to start with the next one. */
  readonly after: string | undefined;
  readonly stop: AbortSignal;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => Promise<void>;
}

/** The events of a shop, read from the public stream. It reconnects whenever the stream ends. */
export class EventFeed {
  readonly #options: FeedOptions;
  #lastId: string | undefined;
  /** Milliseconds before the first attempt to reconnect (the stream can set it), and before the next one. */
  #firstWait = 1_000;
  #wait = this.#firstWait;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#lastId = options.after;
  }

  /** Ends when `stop` is aborted. Throws `CommandFailed` if reconnecting would not help. */
  async *events(): AsyncGenerator<FeedEvent, void, void> {
    const { stop, say } = this.#options;
    while (!stop.aborted) {
      try {
        yield* this.#connection();
      } catch (error) {
        if (stop.aborted) return;
        if (error instanceof CommandFailed) throw error;
        await say(`The connection was lost: ${(error as Error).message}`);
      }
      await this.#pause();
    }
  }

  async *#connection(): AsyncGenerator<FeedEvent, void, void> {
    const { base, key, types, stop, say } = this.#options;
    const silence = new AbortController();
    const startTimer = () => setTimeout(() => silence.abort(new Error("Nothing came for 30 seconds.")), SILENCE);
    let timer = startTimer();
    const signal = AbortSignal.any([stop, silence.signal]);
    try {
      const headers: Record<string, string> = { authorization: `Bearer ${key}` };
      if (this.#lastId !== undefined) headers["last-event-id"] = this.#lastId;
      const query = types === undefined ? "" : `?type=${encodeURIComponent(types)}`;
      const response = await fetch(`${base}/events/stream${query}`, { headers, signal });
      if (!response.ok || !response.body) {
        await this.#handleRefusal(response);
        return;
      }
      this.#wait = this.#firstWait;
      await say(`Following the events of the sandbox at ${base}.`);
      let text = "";
      const fields = new Map<string, string>();
      const decoder = new TextDecoder();
      for await (const piece of response.body) {
        clearTimeout(timer); // while events are forwarded, nothing is read
        const lines = (text + decoder.decode(piece, { stream: true })).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) yield* this.#read(line, fields);
        timer = startTimer();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads a line. An id ends an event, and without one it is only the id to resume from. `fields` are those before it. */
  *#read(line: string, fields: Map<string, string>): Generator<FeedEvent, void, void> {
    const [name, value] = splitField(line);
    fields.set(name, value);
    if (name === "retry" && Number(value) > 0) this.#wait = this.#firstWait = Number(value);
    if (name !== "id") return;
    const type = fields.get("event");
    const json = fields.get("data");
    fields.clear();
    if (type !== undefined && json !== undefined) yield { id: value, type, json };
    this.#lastId = value; // set after the yield: an event that was not forwarded is sent again
  }

  /** Handles a response that is not a stream. Throws `CommandFailed` if another attempt would get the same response. */
  async #handleRefusal(response: Response): Promise<void> {
    const { say } = this.#options;
    const { code = "no_stream", message = `The response has the status ${response.status}.` } = await bodyOf(response);
    if (code === "events_expired" && this.#lastId !== undefined) {
      await say("The last event was deleted, or the sandbox was reset. Continuing with the next event.");
      this.#lastId = undefined;
      return;
    }
    if (response.status < 500 && response.status !== 429) throw new CommandFailed(code, message);
    this.#wait = Math.max(this.#wait, readRetryAfter(response.headers, Date.now()) ?? 0);
    await say(`Not connected: ${message}`);
  }

  /** Waits before the next attempt. The wait doubles from one attempt to the next. */
  async #pause(): Promise<void> {
    const { stop } = this.#options;
    if (stop.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#wait);
    const end = () => resolve();
    stop.addEventListener("abort", end, { once: true });
    await promise;
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(":");
  return colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

async function bodyOf(response: Response): Promise<{ code?: string; message?: string }> {
  try {
    return (await response.json()) as { code?: string; message?: string };
  } catch {
    return {};
  }
}
