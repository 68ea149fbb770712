import { createHash } from "node:crypto";
import type { Quota } from "../../contract/quota.ts";
import type { Admission, Caller, Standing } from "../../http/ports.ts";
import { banLength, ladder, strikesUntilBan } from "../conduct.ts";
import { windowStanding } from "../windows.ts";
import { limitsScript, presenceScript } from "./limits-script.ts";
import { encodeWords, type Reply, ReplyError, type Word } from "./resp.ts";
import type { Valkey } from "./valkey.ts";

const verdicts = ["admitted", "limited", "banned"] as const;

/** What a script is run with: encoded, as many requests say the same. */
interface Call {
  /** Its first key, which tells the server. */
  readonly key: string;
  /** The number of the words of its command. */
  readonly length: string;
  readonly words: string;
}

function callWith(keys: readonly [string, ...string[]], values: readonly Word[]): Call {
  const words = [keys.length, ...keys, ...values];
  return { key: keys[0], length: `*${words.length + 2}\r\n`, words: encodeWords(words) };
}

/** A script that runs on the server: by its digest, or by its text where the server has forgotten it. */
class Script {
  readonly #byDigest: string;
  readonly #byText: string;

  constructor(lua: string) {
    this.#byDigest = encodeWords(["EVALSHA", createHash("sha1").update(lua).digest("hex")]);
    this.#byText = encodeWords(["EVAL", lua]);
  }

  run<T>(valkey: Valkey, { key, length, words }: Call, read: (reply: Reply) => T): Promise<T> {
    return valkey.ask(key, length + this.#byDigest + words).then(read, (error: unknown) => {
      if (!(error instanceof ReplyError && error.message.startsWith("NOSCRIPT"))) throw error;
      return valkey.ask(key, length + this.#byText + words).then(read);
    });
  }
}

const limits = new Script(limitsScript);
const presence = new Script(presenceScript);

/** The counts that all processes share, in a Valkey or Redis server. Each call is one round trip, and rejects if it fails. */
export class ValkeyCounts {
  readonly #valkey: Valkey;
  readonly #prefix: string;
  readonly #time: (() => number) | undefined;
  /** How a request of each caller is counted: the same each time, while the server tells the time. */
  readonly #counting = new WeakMap<Caller, Call>();

  /**
   * `prefix` begins the name of each key. `time` replaces the server's clock, in unix milliseconds:
   * tests need to set it.
   */
  constructor(valkey: Valkey, prefix = "petstore:", time?: () => number) {
    this.#valkey = valkey;
    this.#prefix = prefix;
    this.#time = time;
  }

  /** Decides on a request with a valid key, and counts it. */
  admit(caller: Caller): Promise<Admission> {
    let call = this.#counting.get(caller);
    if (!call) {
      call = this.#callOf(caller, "count");
      if (this.#time === undefined) this.#counting.set(caller, call);
    }
    return limits.run(this.#valkey, call, toAdmission);
  }

  /** How a key and its account stand; counts nothing. */
  peek(caller: Caller): Promise<Standing> {
    return limits.run(this.#valkey, this.#callOf(caller, "stand"), (reply) => toStanding(caller, reply));
  }

  /** Decides on a request from an address, and counts it. */
  admitAddress(address: string, quota: Quota): Promise<Admission> {
    return this.#address(address, quota, "count");
  }

  /** How an address stands; counts nothing. */
  peekAddress(address: string, quota: Quota): Promise<Admission> {
    return this.#address(address, quota, "look");
  }

  /** Says that this process runs. Gives how many do, once every server has answered. */
  async present(process: string): Promise<number> {
    const call = callWith([`${this.#prefix}processes`], [process]);
    const [processes] = await Promise.all([presence.run(this.#valkey, call, Number), this.#valkey.ping()]);
    return processes;
  }

  close(): void {
    this.#valkey.close();
  }

  #callOf({ accountId, keyId, perMinute, perDay }: Caller, act: "count" | "stand"): Call {
    // The braces put all keys of an account into one slot of a cluster.
    const windows = `${this.#prefix}{${accountId}}:windows`;
    const conduct = `${this.#prefix}{${accountId}}:key:${keyId}`;
    return callWith([windows, conduct], [perMinute, perDay, strikesUntilBan(perMinute), act, this.#now()]);
  }

  #address(address: string, { perMinute, perDay }: Quota, act: "count" | "look"): Promise<Admission> {
    const call = callWith([`${this.#prefix}{${address}}:address`], [perMinute, perDay, 0, act, this.#now()]);
    return limits.run(this.#valkey, call, toAdmission);
  }

  #now(): Word {
    return this.#time?.() ?? "";
  }
}

function toAdmission(reply: Reply): Admission {
  const [verdict, limit, remaining, reset, retryAfter] = reply as [number, number, number, number, number];
  return { verdict: verdicts[verdict] as Admission["verdict"], limit, remaining, reset, retryAfter };
}

function toStanding({ perMinute, perDay }: Quota, reply: Reply): Standing {
  const [minuteUsed, minuteEnds, dayUsed, dayEnds, strikes, banEnds, nextLevel] = reply as [
    ...[number, number, number, number],
    ...[number, number, number],
  ];
  return {
    minute: windowStanding(perMinute, minuteUsed, minuteEnds),
    day: windowStanding(perDay, dayUsed, dayEnds),
    strikes,
    strikesForBan: strikesUntilBan(perMinute),
    banEnds: banEnds || undefined,
    nextBan: banLength(nextLevel) / 1000,
    ladder,
  };
}
