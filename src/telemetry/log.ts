import { write, writeSync } from "node:fs";
import { promisify } from "node:util";
import {
  type EventAt,
  type EventName,
  eventOf,
  type FieldArguments,
  type Fields,
  type LogLevel,
  logLevels,
} from "./log-events.ts";

/** How long lines are buffered, in milliseconds, so that one system call writes many. */
const FLUSH_AFTER = 20;
/** How long a log that is closed waits for its reader, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;
/** How long a process that must exit at once waits for the thread that writes its last lines, in milliseconds. */
const CLOSE_AT_ONCE_TIMEOUT = 100;
/** The maximum number of buffered characters. Further lines are dropped and counted. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/** A request that took at least this long is slow, in milliseconds. */
const SLOW = 1_000;

/** A continuing failure is logged at once, then once per this interval, in milliseconds. */
const REMINDER = 10_000;

/** The fields of the line of a request, in its order. Undefined ones are left out. */
export interface RequestLine {
  readonly requestId: string;
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  /** The id that its client gave it. */
  readonly clientRequestId: string | undefined;
  /** The code of its error. */
  readonly code: string | undefined;
  /** The parameters of its path, as the client sent them: none that may be a part of a key. */
  readonly resource: Readonly<Record<string, string>> | undefined;
  /** The id of the resource that it created. */
  readonly created: string | undefined;
  /** The simulation that it asked for. */
  readonly simulated: string | undefined;
  readonly accountId: string | undefined;
  readonly keyId: string | undefined;
  /** The client's address. */
  readonly address: string | undefined;
}

/** A continuing failure: how often it has happened since its last line, and its last cause. */
interface Continuing {
  readonly event: EventName;
  times: number;
  /** True if the last interval, or the rest of it after the first line, ended without it. */
  isQuiet: boolean;
  cause: unknown;
  fields: Fields;
}

/** Writes log lines. Resolves when the text is written, which a slow reader can delay without limit. */
export type LogSink = (text: string) => Promise<void>;

/** A log of JSON lines. It never waits for its reader, and never contains a key. */
export class Log {
  /** True if the level includes the lines of requests. */
  readonly takesRequests: boolean;
  readonly #sink: LogSink;
  readonly #threshold: number;
  readonly #isBrief: boolean;
  #buffered = "";
  #timer: Timer | undefined;
  #written: Promise<void> = Promise.resolve();
  #dropped = 0;
  /** What the next text begins with: a line feed if the previous one may have ended within a line. */
  #start = "";
  readonly #continuing = new Map<string, Continuing>();
  /** Failures that are over, while others continue. */
  readonly #over: string[] = [];
  #reminder: Timer | undefined;
  /** The time of the last line, in unix milliseconds and as text. */
  #timeOf = 0;
  #timeText = "";

  constructor(level: LogLevel, sink: LogSink = writeOutput) {
    this.#sink = sink;
    this.#isBrief = level === "brief";
    this.#threshold = logLevels.indexOf(this.#isBrief ? "info" : level);
    this.takesRequests = this.#takes("request");
  }

  debug<E extends EventAt<"debug">>(event: E, ...[fields]: FieldArguments<E>): void {
    this.#event(event, fields);
  }

  info<E extends EventAt<"info">>(event: E, ...[fields]: FieldArguments<E>): void {
    this.#event(event, fields);
  }

  warn<E extends EventAt<"warn">>(event: E, ...[fields]: FieldArguments<E>): void {
    this.#event(event, fields);
  }

  /** `cause` is logged with its stack: the log is for operators, nothing of it goes to clients. */
  error<E extends EventAt<"error">>(event: E, cause: unknown, ...[fields]: FieldArguments<E>): void {
    this.#failure(event, cause, fields);
  }

  /**
   * Logs a failure that can affect thousands of requests a second, such as a full disk: the first one at once, then
   * every 10 s the last one, with the number of `times` since the previous line.
   */
  failing<E extends EventAt<"error">>(event: E, cause: unknown, ...[fields]: FieldArguments<E>): void {
    const { per } = eventOf(event);
    const series = per === undefined ? event : `${event} ${fields?.[per]}`;
    const continuing = this.#continuing.get(series);
    if (continuing) {
      continuing.times++;
      continuing.cause = cause;
      continuing.fields = fields ?? {};
      return;
    }
    this.#failure(event, cause, fields);
    this.#continuing.set(series, { event, times: 0, isQuiet: false, cause, fields: fields ?? {} });
    this.#reminder ??= setInterval(() => this.#remind(), REMINDER).unref();
  }

  /** Logs a served request. */
  request(line: RequestLine): void {
    if (!this.takesRequests || (this.#isBrief && line.status < 400 && line.durationMs < SLOW)) return;
    // Joined, because a line for each request costs a tenth of its CPU time: another object would be copied.
    this.#append(`{"time":"${this.#time()}","level":"info","event":"request",${JSON.stringify(line).slice(1)}\n`);
  }

  /** Writes the buffered lines. */
  async close(): Promise<void> {
    this.#remind(true);
    clearTimeout(this.#timer);
    clearInterval(this.#reminder);
    await Promise.race([this.#written.then(() => this.#write()), Bun.sleep(CLOSE_TIMEOUT)]);
  }

  /**
   * Writes the buffered lines and blocks the program until then: for a process that must not continue. Nothing tells when
   * the writing thread has finished, so it waits for a fixed time, which is enough if the log is being read.
   */
  closeAtOnce(): void {
    this.#remind(true);
    clearTimeout(this.#timer);
    void this.#write();
    Bun.sleepSync(CLOSE_AT_ONCE_TIMEOUT);
  }

  /** Also says that all failures are over, after their last lines. */
  #remind(isClosing = false): void {
    for (const [series, continuing] of this.#continuing) {
      const { times, isQuiet } = continuing;
      if (times > 0) this.#failure(continuing.event, continuing.cause, continuing.fields, times);
      else if (isQuiet) {
        this.#continuing.delete(series);
        this.#over.push(series);
      }
      continuing.isQuiet = times === 0;
      continuing.times = 0;
    }
    if (isClosing || this.#continuing.size > 0 || this.#over.length === 0) return;
    this.info("recovered", { failures: [...new Set(this.#over.splice(0))].join(", ") });
  }

  /** The current time as text. It is formatted once a millisecond, because many lines share it. */
  #time(): string {
    const now = Date.now();
    if (now !== this.#timeOf) {
      this.#timeOf = now;
      this.#timeText = new Date(now).toISOString();
    }
    return this.#timeText;
  }

  #failure(event: EventName, cause: unknown, fields: Fields = {}, times?: number): void {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    this.#event(event, fields, { times, error: error.message, stack: error.stack });
  }

  #event(event: EventName, fields: Fields = {}, more: Fields = {}): void {
    if (this.#takes(event)) this.#append(this.#line(event, fields, more));
  }

  #takes(event: EventName): boolean {
    return logLevels.indexOf(eventOf(event).level) >= this.#threshold;
  }

  #line(event: EventName, fields: Fields, more: Fields = {}): string {
    const { level, message } = eventOf(event);
    return `${JSON.stringify({ time: this.#time(), level, event, ...fields, message, ...more })}\n`;
  }

  #append(line: string): void {
    if (this.#buffered.length > MAX_BUFFERED) {
      this.#dropped++;
      return;
    }
    this.#buffered += line;
    this.#schedule();
  }

  /** The timer stays set until its text is written: lines that are added before that wait for the next one. */
  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#written = this.#write();
    }, FLUSH_AFTER);
  }

  async #write(): Promise<void> {
    if (this.#buffered !== "") await this.#writeBuffered();
    this.#timer = undefined;
    if (this.#buffered !== "") this.#schedule();
  }

  /** If it fails, such as on a full disk, the lines count as dropped, although some may have been written. */
  async #writeBuffered(): Promise<void> {
    const lines = this.#buffered;
    const dropped = this.#dropped;
    this.#buffered = "";
    try {
      await this.#sink(this.#start + lines + (dropped > 0 ? this.#line("log_lines_dropped", { lines: dropped }) : ""));
      this.#dropped -= dropped;
      this.#start = "";
    } catch {
      this.#dropped += lines.split("\n").length - 1;
      this.#start = "\n";
    }
  }
}

/** The wait before the next attempt to write to a full pipe that does not block, in milliseconds. */
const FULL_PIPE_PAUSE = 10;

/** Writes to standard output on another thread, because a slow reader would block this one. */
export async function writeOutput(text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray((await promisify(write)(1, rest)).bytesWritten);
    } catch (error) {
      if (!isFull(error)) throw error;
      await Bun.sleep(FULL_PIPE_PAUSE);
    }
  }
}

/** Writes to standard output (1) or standard error (2), and returns when all of it is written. */
export function writeNow(file: 1 | 2, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if (!isFull(error)) throw error;
      Bun.sleepSync(FULL_PIPE_PAUSE);
    }
  }
}

/** True for a full pipe that another program has set not to block. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
