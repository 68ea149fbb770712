import type { ShopMap } from "../../collections/maps.ts";
import { strikesForBan } from "../../contract/bans.ts";
import type { Caller, Mode, Quota, ShopName } from "../../contract/caller.ts";
import type { StoredLimits } from "../stored-limits.store.ts";
import { noDay } from "../windows.ts";
import { decide } from "./decide-script.ts";
import { type Decision, readDecision } from "./decision.ts";
import { seed } from "./seed-script.ts";
import { advance, forget, presence } from "./short-scripts.ts";
import type { Valkey } from "./valkey.ts";

/** The maximum number of questions in one call. It limits how long the call blocks the server. */
const MAX_QUESTIONS = 500;

/** The kind of a count: of a shop, an address, or the sandbox quota of an account. */
export type CountKind = Mode | "address" | "sandbox";

/** One question to the server: all requests of an API key or address in one turn of the event loop. */
export interface Question {
  /** The account or the address. */
  readonly owner: string;
  /** The kind of count. */
  readonly kind: CountKind;
  /** The key and the shop that are asked about; undefined if the count does not belong to a shop. */
  readonly caller: Pick<Caller, "keyId" | "accountId" | "mode"> | undefined;
  readonly quota: Quota;
  /** The number of requests to decide on and to count; 0 counts nothing. */
  readonly requests: number;
}

/**
 * The counts that all processes share, in a Valkey or Redis server. Each call is one round trip, and rejects if it
 * fails.
 */
export class ValkeyCounts {
  readonly #valkey: Valkey;
  readonly #prefix: string;
  readonly #time: (() => number) | undefined;

  /**
   * `prefix` begins the name of each key. `time` replaces the server's clock in tests, in Unix milliseconds.
   */
  constructor(valkey: Valkey, prefix = "petstore:", time?: () => number) {
    this.#valkey = valkey;
    this.#prefix = prefix;
    this.#time = time;
  }

  /**
   * Splits questions into calls. In a cluster, a call goes to one slot, and accounts rarely share one, so each account
   * has its own call.
   */
  splitIntoCalls<T>(questions: readonly T[], ownerOf: (one: T) => string): (readonly T[])[] {
    if (this.#valkey.isCluster) return [...Map.groupBy(questions, ownerOf).values()];
    if (questions.length <= MAX_QUESTIONS) return [questions];
    const calls = Math.ceil(questions.length / MAX_QUESTIONS);
    return Array.from({ length: calls }, (_, index) =>
      questions.slice(index * MAX_QUESTIONS, (index + 1) * MAX_QUESTIONS),
    );
  }

  /** Decides on requests and counts them, atomically. Undefined for a shop that the server does not know. */
  async decide(questions: readonly Question[]): Promise<(Decision | undefined)[]> {
    const values = [this.#now(), ...questions.map(questionText)];
    const replies = await this.#valkey.run(decide, this.#hashesOf(questions), values);
    return (replies as string[]).map(readDecision);
  }

  /** Like `decide`, for shops that the server does not have. It restores them from these saved counts first. */
  async seedAndDecide(
    questions: readonly Question[],
    stored: ShopMap<StoredLimits>,
  ): Promise<(Decision | undefined)[]> {
    const texts = questions.map(({ caller }) => seedText(caller && stored.get(caller)));
    // Not in one round trip: if the server has lost the seed script, the seed would run after the decision.
    await this.#valkey.run(seed, this.#hashesOf(questions), [this.#now(), ...texts]);
    return this.decide(questions);
  }

  /** Sets the clock of a sandbox at least this many milliseconds ahead of real time, for all processes. */
  async setClockOffset(sandbox: ShopName, ahead: number): Promise<void> {
    await this.#valkey.run(advance, [this.#hashOf(sandbox.accountId, sandbox.mode)], [ahead]);
  }

  /** Forgets both shops of an account, and its sandbox quota. */
  async forget(accountId: string): Promise<void> {
    const kinds: readonly CountKind[] = ["live", "test", "sandbox"];
    await this.#valkey.run(
      forget,
      kinds.map((kind) => this.#hashOf(accountId, kind)),
      [],
    );
  }

  /** Reports that this process runs. Returns the number of running processes once every server has replied. */
  async reportPresence(process: string): Promise<number> {
    const noted = this.#valkey.run(presence, [`${this.#prefix}processes`], [process]);
    const [processes] = await Promise.all([noted, this.#valkey.ping()]);
    return Number(processes);
  }

  /** Drops connections that no longer receive anything. */
  reconnect(): void {
    this.#valkey.reconnect();
  }

  close(): void {
    this.#valkey.close();
  }

  #hashesOf(questions: readonly Question[]): string[] {
    return questions.map(({ owner, kind }) => this.#hashOf(owner, kind));
  }

  #hashOf(owner: string, kind: CountKind): string {
    return `${this.#prefix}{${owner}}:${kind}`;
  }

  #now(): string | number {
    return this.#time?.() ?? "";
  }
}

/** The argument of the script `decide` for one question. */
function questionText({ caller, quota: { perMinute, perDay }, requests }: Question): string {
  return `${requests} ${perMinute} ${perDay} ${strikesForBan(perMinute)} ${caller?.keyId ?? ""}`;
}

/** The argument of the script `seed` for one question. */
function seedText(stored: StoredLimits | undefined): string {
  if (!stored) return "0 0 0 0 0 0 0";
  const { ahead, minuteEnds, minuteUsed, days } = stored;
  const [last = noDay, earlier = noDay] = days;
  return [ahead, minuteEnds, minuteUsed, last.day, last.used, earlier.day, earlier.used].join(" ");
}
