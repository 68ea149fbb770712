import type { StreamSink } from "../../contract/stream.ts";
import type { Unread } from "../response/response.ts";
import { aliveComment, type EventEncoder, endOfLog, streamHead } from "./event-encoder.ts";

/** The maximum number of bytes that wait for a slow client, in addition to the system's buffers of its connection. */
const MAX_BUFFERED = 512 * 1024;
/** Milliseconds of silence after which a client gets a comment. */
const MAX_SILENCE = 15_000;
/** Milliseconds after which a client that takes nothing of what it was sent loses its stream. */
const MAX_STALL = 30_000;
/** Milliseconds after which a stream ends. Its client reconnects, so it soon reaches a new version of the service. */
const MAX_AGE = 3_600_000;

/** Why a stream has ended: the `reason` in the log. docs/monitoring.md says what each means. */
export type StreamEnd = "client_closed" | "slow_client" | "key_invalid" | "max_age" | "shutdown" | "source_ended";

/** One stream. It buffers data that the client has not read yet, up to a limit. */
export class OpenStream implements StreamSink<unknown> {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder: EventEncoder;
  readonly #shop: number;
  readonly #allUnread: Unread;
  readonly #since: number;
  readonly #onEnd: (reason: StreamEnd) => void;
  #position: bigint;
  #queue: Uint8Array[] = [];
  /** Bytes in the queue, and those that the connection got and has not sent. */
  #queued = 0;
  #sending = 0;
  /** True if the connection has sent all it got, or asked for more, since the last sweep. */
  #hasTaken = false;
  /** The last sweep at which nothing was unread, or something had been taken since the one before. */
  #takenBefore: number;
  #events = 0;
  #bytes = 0;
  /** True if anything was sent since the last sweep. */
  #hasSent = false;
  /** When the stream began, or the last sweep that sent a comment or found that something had been sent. */
  #silentSince: number;
  #isOpen = true;
  /** Set while the connection waits for more data. */
  #more: PromiseWithResolvers<void> | undefined;
  #drained: PromiseWithResolvers<void> | undefined;

  /** `now` is monotonic time. `onEnd` is called once. */
  constructor(
    encoder: EventEncoder,
    shop: number,
    position: bigint,
    unread: Unread,
    now: number,
    onEnd: (reason: StreamEnd) => void,
  ) {
    this.#encoder = encoder;
    this.#shop = shop;
    this.#allUnread = unread;
    this.#position = position;
    this.#since = this.#silentSince = this.#takenBefore = now;
    this.#onEnd = onEnd;
    this.#push(streamHead(position));
    // No internal queue, because it would hide how much the client has read.
    this.body = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#cancel() },
      { highWaterMark: 0 },
    );
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get #unread(): number {
    return this.#queued + this.#sending;
  }

  /** What it has sent so far. */
  get counts() {
    return { events: this.#events, bytes: this.#bytes };
  }

  send(events: readonly unknown[]): void {
    const last = events.at(-1);
    if (last === undefined || !this.#isOpen) return;
    this.#position = this.#encoder.idOf(last);
    this.#events += events.length;
    this.#push(this.#encoder.encode(events));
  }

  skipTo(id: bigint): void {
    if (id > this.#position) this.#position = id;
  }

  drained(): Promise<void> {
    if (this.#unread === 0 || !this.#isOpen) return Promise.resolve();
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  end(): void {
    this.close("source_ended");
  }

  endLog(): void {
    if (!this.#isOpen) return;
    this.#append(endOfLog); // although the buffer may be full: a slow client that reads on needs it too
    this.close("source_ended");
  }

  /** Ends the stream. Buffered data is still sent, except to a client that is slow or gone. */
  close(reason: StreamEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (reason === "slow_client" || reason === "client_closed") {
      this.#queue = []; // a slow client reconnects for it
      this.#setUnread(0, reason === "slow_client" ? this.#sending : 0);
    }
    this.#more?.resolve();
    this.#drained?.resolve();
    this.#onEnd(reason);
  }

  /** Sends a keep-alive or ends the stream if it is time. `now` is monotonic time. Call it about every second. */
  sweep(now: number): void {
    if (this.#hasTaken || this.#unread === 0) this.#takenBefore = now;
    this.#hasTaken = false;
    if (now - this.#takenBefore >= MAX_STALL) return this.close("slow_client");
    if (now - this.#since >= MAX_AGE) return this.close("max_age");
    if (!this.#hasSent && now - this.#silentSince < MAX_SILENCE) return;
    if (!this.#hasSent) this.#push(aliveComment(this.#position));
    this.#hasSent = false;
    this.#silentSince = now;
  }

  #push(bytes: Uint8Array): void {
    const isFull = this.#unread > 0 && this.#unread + bytes.length > MAX_BUFFERED;
    if (isFull || this.#allUnread.isTooMuchOf(this.#shop)) return this.close("slow_client");
    this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#setUnread(this.#queued + bytes.length, this.#sending);
    this.#bytes += bytes.length;
    this.#hasSent = true;
    this.#more?.resolve();
  }

  #setUnread(queued: number, sending: number): void {
    this.#allUnread.add(this.#shop, queued + sending - this.#unread);
    this.#queued = queued;
    this.#sending = sending;
  }

  /** Called when the connection has sent what it got, and can accept more data. */
  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#hasTaken = true;
    this.#setUnread(this.#queued, 0);
    while (this.#queue.length === 0 && this.#isOpen) {
      this.#drained?.resolve();
      this.#drained = undefined;
      this.#more = Promise.withResolvers();
      await this.#more.promise;
    }
    this.#more = undefined;
    if (this.#queue.length === 0) return controller.close();
    for (const bytes of this.#queue) controller.enqueue(bytes);
    this.#queue = [];
    this.#setUnread(0, this.#queued);
  }

  #cancel(): void {
    this.close("client_closed");
    this.#setUnread(0, 0);
  }
}
