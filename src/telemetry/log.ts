import { write } from "node:fs";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
type Field = string | number | boolean | null | undefined;

/** Lines wait so long for others, in milliseconds: one system call then writes them together. */
const FLUSH_AFTER = 20;
/** How long a process that ends at once waits for the thread that writes its last lines, in milliseconds. */
const LAST_WORDS = 100;
/** Characters that may wait for a slow reader of the log. Beyond it lines are dropped and counted. */
const MOST_WAITING = 4 * 1024 * 1024;

/** Of a failure that goes on there is a line at its beginning, and then one in each such time, in milliseconds. */
const REMINDER = 10_000;

/** A failure that goes on: how often it has happened since its last line, and when it was last. */
interface Ongoing {
  times: number;
  cause: unknown;
  fields: Record<string, Field>;
}

/** Where log lines go: resolves when the text is taken, however long its reader lets it wait. */
export type LogSink = (text: string) => Promise<void>;

/** Writes on another thread: a reader that does not read must not stop the service. */
const standardOutput: LogSink = async (text) => {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    write(1, rest, (error, written) => (error ? reject(error) : resolve(written)));
    rest = rest.subarray(await promise);
  }
};

/** One line of a request. */
export interface RequestLine {
  readonly id: string;
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly account: string | undefined;
}

/** A log of JSON lines. It never waits for its reader, and never holds a key. */
export class Log {
  readonly #sink: LogSink;
  readonly #threshold: number;
  readonly #fields: Record<string, Field>;
  /** What ends the line of a request. */
  readonly #requestEnd: string;
  #waiting = "";
  #timer: Timer | undefined;
  #written: Promise<void> = Promise.resolve();
  #dropped = 0;
  readonly #ongoing = new Map<string, Ongoing>();
  #reminder: Timer | undefined;
  #timeOf = 0;
  #timeText = "";

  /** `fields` stand in every line. */
  constructor(level: LogLevel, sink: LogSink = standardOutput, fields: Record<string, Field> = {}) {
    this.#sink = sink;
    this.#fields = fields;
    this.#requestEnd = `${JSON.stringify(fields).replace("{", ",").replace(/^,}$/, "}")}\n`;
    this.#threshold = logLevels.indexOf(level);
  }

  debug(event: string, fields: Record<string, Field> = {}): void {
    this.#event("debug", event, fields);
  }

  info(event: string, fields: Record<string, Field> = {}): void {
    this.#event("info", event, fields);
  }

  warn(event: string, fields: Record<string, Field> = {}): void {
    this.#event("warn", event, fields);
  }

  /** `cause` is logged with its stack: the log is for operators, nothing of it goes to clients. */
  error(event: string, cause: unknown, fields: Record<string, Field> = {}): void {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    this.#event("error", event, { ...fields, error: error.message, stack: error.stack });
  }

  /**
   * Logs a failure that may happen to thousands of requests in a second, as when a disk is full: the
   * first at once, then the last of every ten seconds with the number of `times` since the line before.
   */
  failing(event: string, cause: unknown, fields: Record<string, Field> = {}): void {
    const ongoing = this.#ongoing.get(event);
    if (ongoing) {
      ongoing.times++;
      ongoing.cause = cause;
      ongoing.fields = fields;
      return;
    }
    this.error(event, cause, fields);
    this.#ongoing.set(event, { times: 0, cause, fields });
    this.#reminder ??= setInterval(() => this.#remind(), REMINDER).unref();
  }

  /** Logs a served request, at level `info`. Written by hand because it is on every request's way. */
  request({ id, operation, method, status, duration, account }: RequestLine): void {
    if (this.#threshold > 1) return;
    this.#append(
      `{"time":"${this.#time()}","level":"info","event":"request","requestId":"${id}",` +
        `"operation":${operation ? `"${operation}"` : "null"},"method":${operation ? `"${method}"` : JSON.stringify(method)},` +
        `"status":${status},"durationMs":${Math.round(duration * 1000) / 1000},"account":${account ? `"${account}"` : "null"}${this.#requestEnd}`,
    );
  }

  /** Writes what waits, but waits for its reader no longer than `deadline` milliseconds. */
  async close(deadline = 1_000): Promise<void> {
    this.#remind();
    clearTimeout(this.#timer);
    clearInterval(this.#reminder);
    await Promise.race([this.#written.then(() => this.#write()), Bun.sleep(deadline)]);
  }

  /**
   * Writes what waits while nothing else of the program runs: for a process that must not go on. It
   * cannot be told when the other thread has written, but for a reader that reads the time is ample.
   */
  closeAtOnce(): void {
    this.#remind();
    clearTimeout(this.#timer);
    void this.#write();
    Bun.sleepSync(LAST_WORDS);
  }

  #remind(): void {
    for (const [event, ongoing] of this.#ongoing) {
      if (ongoing.times === 0) this.#ongoing.delete(event);
      else this.error(event, ongoing.cause, { ...ongoing.fields, times: ongoing.times });
      ongoing.times = 0;
    }
  }

  /** The time now, made into text once a millisecond: many lines share it. */
  #time(): string {
    const now = Date.now();
    if (now !== this.#timeOf) {
      this.#timeOf = now;
      this.#timeText = new Date(now).toISOString();
    }
    return this.#timeText;
  }

  #event(level: LogLevel, event: string, fields: Record<string, Field>): void {
    if (logLevels.indexOf(level) < this.#threshold) return;
    this.#append(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields, ...this.#fields })}\n`);
  }

  #append(line: string): void {
    if (this.#waiting.length > MOST_WAITING) {
      this.#dropped++;
      return;
    }
    this.#waiting += line;
    this.#schedule();
  }

  /** The timer stays set until its text is written: lines that come meanwhile wait for the next one. */
  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#written = this.#write();
    }, FLUSH_AFTER);
  }

  async #write(): Promise<void> {
    if (this.#waiting !== "") await this.#sink(this.#take()).catch(() => {}); // nobody reads any more: no one to tell
    this.#timer = undefined;
    if (this.#waiting !== "") this.#schedule();
  }

  #take(): string {
    let text = this.#waiting;
    if (this.#dropped > 0) {
      text += `${JSON.stringify({ time: new Date().toISOString(), level: "warn", event: "log lines dropped", lines: this.#dropped, ...this.#fields })}\n`;
      this.#dropped = 0;
    }
    this.#waiting = "";
    return text;
  }
}
