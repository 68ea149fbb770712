import type { Quota } from "../../contract/quota.ts";
import type { ShopMap } from "../../contract/shop-map.ts";
import type { Mode, ShopName } from "../../http/ports.ts";
import { strikesUntilBan } from "../key-bans.ts";
import type { SavedShop } from "../saved-shops.store.ts";
import { type Decision, readDecision } from "./decision.ts";
import {
  advanceScript,
  decideScript,
  forgetKeyScript,
  forgetScript,
  presenceScript,
  seedScript,
} from "./limits-script.ts";
import { script } from "./script.ts";
import type { Valkey } from "./valkey.ts";

const decide = script(decideScript);
const seed = script(seedScript);
const advance = script(advanceScript);
const forget = script(forgetScript);
const forgetKey = script(forgetKeyScript);
const presence = script(presenceScript);

/** Keys that one call asks for: a bound on how long it keeps the server from others. */
const AT_ONCE = 500;

/** What requests are counted by: a shop of an account, an address, or what an account may send for its sandbox. */
export type CountedBy = Mode | "address" | "sandbox";

/** What the server is asked of one API key or address, for all its requests in one turn of the event loop. */
export interface Question {
  /** The account or the address. */
  readonly owner: string;
  /** Which of its counts is meant. */
  readonly countedBy: CountedBy;
  /** Undefined where the count is not that of a shop. */
  readonly shop: ShopName | undefined;
  /** Empty where the count is not that of a shop. */
  readonly keyId: string;
  readonly quota: Quota;
  /** How many requests to decide on and to count; 0 only looks. */
  readonly requests: number;
}

/** The counts that all processes share, in a Valkey or Redis server. Each call is one round trip, and rejects if it fails. */
export class ValkeyCounts {
  readonly #valkey: Valkey;
  readonly #prefix: string;
  readonly #time: (() => number) | undefined;

  /**
   * `prefix` begins the name of each key. `time` replaces the server's clock, in unix milliseconds:
   * tests need to set it.
   */
  constructor(valkey: Valkey, prefix = "petstore:", time?: () => number) {
    this.#valkey = valkey;
    this.#prefix = prefix;
    this.#time = time;
  }

  /**
   * What can be asked in one call: all of a server, up to a bound. In a cluster a call goes to one slot, and accounts
   * of one turn hardly ever share one, so each has its own call.
   */
  calls<T>(asked: readonly T[], ownerOf: (one: T) => string): (readonly T[])[] {
    if (this.#valkey.isCluster) return [...Map.groupBy(asked, ownerOf).values()];
    if (asked.length <= AT_ONCE) return [asked];
    const calls = Math.ceil(asked.length / AT_ONCE);
    return Array.from({ length: calls }, (_, index) => asked.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
  }

  /** Decides on requests, and counts them, in one step. Undefined for a shop that the server does not know. */
  async decide(questions: readonly Question[]): Promise<(Decision | undefined)[]> {
    const values = [this.#now(), ...questions.map(questionText)];
    const replies = await this.#valkey.run(decide, this.#hashesOf(questions), values);
    return (replies as string[]).map(readDecision);
  }

  /** The same for shops that the server did not know, of which this is kept elsewhere. The server knows them then. */
  async seedAndDecide(questions: readonly Question[], kept: ShopMap<SavedShop>): Promise<(Decision | undefined)[]> {
    const texts = questions.map(({ shop }) => seedText(shop && kept.get(shop)));
    // Not together: a server that has forgotten the script would run it only after the decision.
    await this.#valkey.run(seed, this.#hashesOf(questions), [this.#now(), ...texts]);
    return this.decide(questions);
  }

  /** Sets the clock of a sandbox at least this many milliseconds ahead of real time, for all processes. */
  async advanceTo(sandbox: ShopName, ahead: number): Promise<void> {
    await this.#valkey.run(advance, [this.#hashOf(sandbox.accountId, sandbox.mode)], [ahead]);
  }

  /** Forgets the strikes and the ban of an API key of a shop. */
  async forgetKey({ accountId, mode }: ShopName, keyId: string): Promise<void> {
    await this.#valkey.run(forgetKey, [this.#hashOf(accountId, mode)], [keyId]);
  }

  /** Forgets both shops of an account, and what it sent for its sandbox. */
  async forget(accountId: string): Promise<void> {
    const counted: readonly CountedBy[] = ["live", "test", "sandbox"];
    await this.#valkey.run(
      forget,
      counted.map((by) => this.#hashOf(accountId, by)),
      [],
    );
  }

  /** Says that this process runs. Returns how many do, once every server has answered. */
  async present(process: string): Promise<number> {
    const noted = this.#valkey.run(presence, [`${this.#prefix}processes`], [process]);
    const [processes] = await Promise.all([noted, this.#valkey.ping()]);
    return Number(processes);
  }

  /** Gives up connections that nothing comes over any more. */
  reconnect(): void {
    this.#valkey.reconnect();
  }

  close(): void {
    this.#valkey.close();
  }

  #hashesOf(questions: readonly Question[]): string[] {
    return questions.map(({ owner, countedBy }) => this.#hashOf(owner, countedBy));
  }

  #hashOf(owner: string, countedBy: CountedBy): string {
    return `${this.#prefix}{${owner}}:${countedBy}`;
  }

  #now(): string | number {
    return this.#time?.() ?? "";
  }
}

/** What the script for decisions reads. */
function questionText({ keyId, quota: { perMinute, perDay }, requests }: Question): string {
  return `${requests} ${perMinute} ${perDay} ${strikesUntilBan(perMinute)} ${keyId}`;
}

/** What the script for unknown shops reads. */
function seedText(kept: SavedShop | undefined): string {
  if (!kept) return "0 0 0 0 0 0 0";
  const { ahead, minuteEnds, minuteUsed, days, bans } = kept;
  const [last = noDay, earlier = noDay] = days;
  const counts = [ahead, minuteEnds, minuteUsed, last.day, last.used, earlier.day, earlier.used];
  return [...counts, ...bans.flatMap(({ keyId, ends, level }) => [keyId, ends, level])].join(" ");
}

const noDay = { day: 0, used: 0 };
