import { randomUUID } from "node:crypto";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { Counts, ReadDecision } from "../limiter.ts";
import type { MemoryCounts } from "../memory-counts.ts";
import type { Sender } from "../windows.ts";
import type { Commands, Question } from "./commands.ts";

/** How long a call may take, in milliseconds. */
const CALL_TIMEOUT = 250;
/** Milliseconds between two looks at the calls that wait. */
const TICK = 50;
/** Ticks between two probes of the server. */
const PROBE_TICKS = 5;
/**
 * The number of probes in a row, about a second, that the server answers in time before this process asks it again.
 * By then, every process has added what it admitted alone.
 */
const GOOD_PROBES = 4;
/** How long a server may be silent before this process reconnects to it, in milliseconds. */
const MAX_SILENCE = 1_000;

/** The reason when a call took too long. */
const tooSlow = new Error("The server did not respond in time.");

export interface SharedCountsOptions {
  readonly commands: Commands;
  /** Decides while there is no answer. */
  readonly local: MemoryCounts;
  /** Called when this process begins to count alone, with the reason, and when it ends. */
  readonly onAlone: (isAlone: boolean, reason?: Error) => void;
  /** How long to wait for an answer, in milliseconds. Default: 250. */
  readonly callTimeout?: number;
}

/** A call to the server that waits for its answer. */
interface Call {
  readonly since: number;
  readonly questions: readonly PendingQuestion[];
  /** Called when the answer is no longer waited for. */
  readonly giveUp?: () => void;
}

/**
 * The counts that several processes share in a Valkey or Redis server. All requests of one turn of the event loop share a
 * call. Without an answer in time, this process decides alone until the server is back: it continues from what the
 * server answered last, and counts each request as many times as there are processes.
 */
export class SharedCounts implements Counts {
  readonly #options: SharedCountsOptions;
  readonly #commands: Commands;
  readonly #local: MemoryCounts;
  readonly #timeout: number;
  readonly #process = randomUUID();
  readonly #timer: Timer;
  /** The questions of this turn. */
  #turn: PendingQuestion[] = [];
  /** Those that more requests of this turn can join, by API key or address. */
  #joinable = new Map<string, PendingQuestion>();
  readonly #calls = new Set<Call>();
  #isAlone = false;
  /** The running processes, as the server last knew. */
  #processes = 1;
  #ticks = 0;
  #isProbing = false;
  #goodProbes = 0;
  /** The last answer to a probe, or the last reconnection. */
  #silentSince = performance.now();
  #isClosed = false;

  private constructor(options: SharedCountsOptions) {
    this.#options = options;
    this.#commands = options.commands;
    this.#local = options.local;
    this.#timeout = options.callTimeout ?? CALL_TIMEOUT;
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  /** Opens it. It counts alone if the server does not answer in time. */
  static async open(options: SharedCountsOptions): Promise<SharedCounts> {
    const counts = new SharedCounts(options);
    await counts.#probe();
    return counts;
  }

  /** True while this process counts alone. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** The running processes, as the server last knew. */
  get processes(): number {
    return this.#processes;
  }

  admit<T>(sender: Sender, requests: 0 | 1, read: ReadDecision<T>): MaybePromise<T> {
    if (this.#isAlone) return this.#local.admitAlone(sender, requests, read, this.#processes);
    const question = requests === 0 ? this.#ask(sender) : this.#join(sender);
    question.requests += requests;
    return new Promise<T>((resolve) => {
      question.waiting.push({ read, resolve: resolve as (answer: unknown) => void });
    });
  }

  /** Waits for the server at most as long as for a decision. */
  async forget(accountId: string): Promise<void> {
    if (this.#isAlone) throw serverFailed();
    try {
      await this.#answered(this.#commands.forget(accountId));
    } catch (error) {
      throw serverFailed(error);
    }
    await this.#local.forget(accountId);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#commands.close();
  }

  /** The question of this turn that a request joins: one for all of its key or address. */
  #join(sender: Sender): PendingQuestion {
    const { kind, owner, keyId } = sender;
    const name = keyId === "" && kind === "address" ? owner : keyId;
    const joined = this.#joinable.get(name);
    if (joined) return joined;
    const question = this.#ask(sender);
    if (name !== "") this.#joinable.set(name, question);
    return question;
  }

  /** Adds a question that is asked at the end of this turn of the event loop. */
  #ask(sender: Sender): PendingQuestion {
    const question: PendingQuestion = { sender, requests: 0, waiting: [] };
    if (this.#turn.push(question) === 1) setImmediate(this.#endTurn);
    return question;
  }

  readonly #endTurn = (): void => {
    const turn = this.#turn;
    this.#turn = [];
    // Not `clear`: a map keeps cleared entries alive until the next full garbage collection.
    this.#joinable = new Map();
    if (this.#isAlone) for (const question of turn) this.#decideAlone(question);
    else for (const questions of this.#commands.split(turn, ({ sender }) => sender.owner)) this.#send(questions);
  };

  #send(questions: readonly PendingQuestion[]): void {
    const call: Call = { questions, since: performance.now() };
    this.#calls.add(call);
    this.#commands.decide(questions).then(
      (decisions) => {
        if (!this.#calls.delete(call)) return; // decided alone
        for (const [index, { sender, waiting }] of questions.entries()) {
          const decision = decisions[index] as (typeof decisions)[number];
          for (const [position, { read, resolve }] of waiting.entries()) resolve(read(decision, position));
          this.#local.note(sender, decision);
        }
      },
      (error: unknown) => {
        if (this.#calls.has(call)) this.#beginAlone(error as Error);
      },
    );
  }

  #decideAlone({ sender, requests, waiting }: PendingQuestion): void {
    for (const { read, resolve } of waiting) {
      resolve(this.#local.admitAlone(sender, requests === 0 ? 0 : 1, read, this.#processes));
    }
  }

  /** Rejects if there is no answer in time. */
  async #answered<T>(work: Promise<T>): Promise<T> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const call: Call = { questions: [], since: performance.now(), giveUp: () => reject(tooSlow) };
    this.#calls.add(call);
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      this.#calls.delete(call);
    }
  }

  #tick(): void {
    if (++this.#ticks % PROBE_TICKS === 0) void this.#probe();
    const now = performance.now();
    const [oldest] = this.#calls;
    if (oldest && now - oldest.since > this.#timeout) void this.#beginAloneUnlessAnswered(oldest);
    if (this.#isAlone && now - this.#silentSince > Math.max(MAX_SILENCE, this.#timeout)) {
      this.#silentSince = now;
      this.#commands.reconnect();
    }
  }

  /**
   * Reads what has arrived before it judges: if this process was stopped, got no processor or had a long turn, the
   * answer may have come in time.
   */
  async #beginAloneUnlessAnswered(call: Call): Promise<void> {
    // The first `setImmediate` ends this turn of the event loop. The next turn begins with reading.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#calls.has(call)) this.#beginAlone(tooSlow);
  }

  #beginAlone(reason: Error): void {
    const calls = [...this.#calls];
    this.#calls.clear();
    this.#goodProbes = 0;
    if (!this.#isAlone) {
      this.#isAlone = true;
      this.#silentSince = performance.now();
      this.#options.onAlone(true, reason);
    }
    for (const { questions, giveUp } of calls) {
      giveUp?.();
      for (const question of questions) this.#decideAlone(question);
    }
  }

  /** Reports that this process runs, and finds out whether the server answers in time. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    const since = performance.now();
    try {
      const reported = this.#commands.reportPresence(this.#process);
      const processes = await (this.#isAlone ? reported : this.#answered(reported));
      const now = performance.now();
      this.#silentSince = now;
      if (!this.#isAlone) this.#processes = processes;
      else if (now - since > this.#timeout) this.#goodProbes = 0;
      else await this.#return(processes);
    } catch (error) {
      // Closing the connection ends a probe with an error too.
      if (!this.#isClosed) this.#beginAlone(error as Error);
    } finally {
      this.#isProbing = false;
    }
  }

  /** After a good probe: adds what was admitted alone. After some in a row, the server decides again, from then on. */
  async #return(processes: number): Promise<void> {
    const parts = this.#commands.split(this.#local.takeAlone(), ({ windows }) => windows.owner);
    const added = Promise.all(
      parts.map(async (part) => {
        try {
          await this.#commands.add(part);
        } catch (error) {
          this.#local.putBackAlone(part);
          throw error;
        }
      }),
    );
    if (++this.#goodProbes === GOOD_PROBES) {
      this.#isAlone = false;
      this.#processes = processes;
      this.#options.onAlone(false);
    }
    await added;
  }
}

/** The question of a turn, with the requests that wait for the answer, in the order of arrival. */
interface PendingQuestion extends Question {
  requests: number;
  readonly waiting: { readonly read: ReadDecision<unknown>; readonly resolve: (answer: unknown) => void }[];
}

/** The error for a change that the server did not make. */
function serverFailed(cause: unknown = tooSlow): StorageUnavailable {
  const { message } = cause as Error;
  return new StorageUnavailable(`The server that counts limits for all processes failed: ${message}`, { cause });
}
