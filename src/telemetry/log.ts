import { writeSync } from "node:fs";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
type Field = string | number | boolean | null | undefined;

/** Lines wait so long for others, in milliseconds: one system call then writes them together. */
const FLUSH_AFTER = 20;
/** Characters that may wait for a slow reader of the log. Beyond it lines are dropped and counted. */
const MOST_WAITING = 4 * 1024 * 1024;

/** Where log lines go. `write` resolves when the text is taken; `writeNow` blocks until then. */
export interface LogSink {
  write(text: string): Promise<unknown>;
  writeNow(text: string): void;
}

const standardOutput: LogSink = {
  write: (text) => Bun.write(Bun.stdout, text),
  writeNow: (text) => {
    try {
      writeSync(1, text);
    } catch {
      // Nobody reads any more (EPIPE) or fast enough (EAGAIN): there is no one to tell.
    }
  },
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
  #waiting = "";
  #timer: Timer | undefined;
  #writing = false;
  #dropped = 0;
  #timeOf = 0;
  #timeText = "";

  constructor(level: LogLevel, sink: LogSink = standardOutput) {
    this.#sink = sink;
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

  /** Logs a served request, at level `info`. Written by hand because it is on every request's way. */
  request({ id, operation, method, status, duration, account }: RequestLine): void {
    if (this.#threshold > 1) return;
    this.#append(
      `{"time":"${this.#time()}","level":"info","event":"request","requestId":"${id}",` +
        `"operation":${operation ? `"${operation}"` : "null"},"method":${operation ? `"${method}"` : JSON.stringify(method)},` +
        `"status":${status},"durationMs":${Math.round(duration * 1000) / 1000},"account":${account ? `"${account}"` : "null"}}\n`,
    );
  }

  /** Writes what waits, blocking: for the end of the process. */
  flushNow(): void {
    clearTimeout(this.#timer);
    if (this.#waiting !== "") this.#sink.writeNow(this.#take());
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
    this.#append(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
  }

  #append(line: string): void {
    if (this.#waiting.length > MOST_WAITING) {
      this.#dropped++;
      return;
    }
    this.#waiting += line;
    this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_AFTER);
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    if (this.#writing || this.#waiting === "") return;
    this.#writing = true;
    try {
      await this.#sink.write(this.#take());
    } catch {
      // As in `writeNow`.
    }
    this.#writing = false;
    if (this.#waiting !== "") this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_AFTER);
  }

  #take(): string {
    let text = this.#waiting;
    if (this.#dropped > 0) {
      text += `${JSON.stringify({ time: new Date().toISOString(), level: "warn", event: "log lines dropped", lines: this.#dropped })}\n`;
      this.#dropped = 0;
    }
    this.#waiting = "";
    return text;
  }
}
