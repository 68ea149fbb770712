import type { Admission, Caller, Standing } from "../../http/ports.ts";
import type { Quota } from "../../quota.ts";
import { banLength, ladder, strikesUntilBan } from "../conduct.ts";
import { windowStanding } from "../windows.ts";
import { limitsScript, presenceScript } from "./limits-script.ts";
import type { ValkeyConnection } from "./valkey-connection.ts";

const verdicts = ["admitted", "limited", "banned"] as const;

/** The scripts as commands of the connection. ioredis sends them by digest, and whole where the server forgot them. */
interface Scripts {
  petstoreLimits(keys: number, ...keysAndArguments: (string | number)[]): Promise<number[]>;
  petstorePresence(key: string, process: string): Promise<number>;
}

/** The counts that all processes share, in a Valkey or Redis server. Each call is one round trip, and rejects if it fails. */
export class ValkeyCounts {
  readonly #connection: ValkeyConnection;
  readonly #scripts: Scripts;
  readonly #prefix: string;
  readonly #time: () => number | "";

  /**
   * `prefix` begins the name of each key. `time` replaces the server's clock, in unix milliseconds:
   * tests need to set it.
   */
  constructor(connection: ValkeyConnection, prefix = "petstore:", time: () => number | "" = () => "") {
    connection.defineCommand("petstoreLimits", { lua: limitsScript });
    connection.defineCommand("petstorePresence", { lua: presenceScript, numberOfKeys: 1 });
    this.#connection = connection;
    this.#scripts = connection as unknown as Scripts;
    this.#prefix = prefix;
    this.#time = time;
  }

  /** Decides on a request with a valid key, and counts it. */
  async admit(caller: Caller): Promise<Admission> {
    return toAdmission(await this.#caller(caller, "count"));
  }

  /** How a key and its account stand; counts nothing. */
  async peek(caller: Caller): Promise<Standing> {
    const [minuteUsed = 0, minuteEnds = 0, dayUsed = 0, dayEnds = 0, strikes = 0, banEnds = 0, nextLevel = 1] =
      await this.#caller(caller, "stand");
    return {
      minute: windowStanding(caller.perMinute, minuteUsed, minuteEnds),
      day: windowStanding(caller.perDay, dayUsed, dayEnds),
      strikes,
      strikesForBan: strikesUntilBan(caller.perMinute),
      banEnds: banEnds || undefined,
      nextBan: banLength(nextLevel) / 1000,
      ladder,
    };
  }

  /** Decides on a request from an address, and counts it. */
  admitAddress(address: string, quota: Quota): Promise<Admission> {
    return this.#address(address, quota, "count");
  }

  /** How an address stands; counts nothing. */
  peekAddress(address: string, quota: Quota): Promise<Admission> {
    return this.#address(address, quota, "look");
  }

  /** Says that this process runs. Gives how many do, once every server of the connection has answered. */
  async present(process: string): Promise<number> {
    const { 0: processes } = await Promise.all([
      this.#scripts.petstorePresence(`${this.#prefix}processes`, process),
      ...("nodes" in this.#connection ? this.#connection.nodes("master").map((node) => node.ping()) : []),
    ]);
    return processes;
  }

  close(): void {
    this.#connection.disconnect();
  }

  #caller({ accountId, keyId, perMinute, perDay }: Caller, act: "count" | "stand"): Promise<number[]> {
    // The braces put all keys of an account into one slot of a cluster.
    const windows = `${this.#prefix}{${accountId}}:windows`;
    const conduct = `${this.#prefix}{${accountId}}:key:${keyId}`;
    const strikes = strikesUntilBan(perMinute);
    return this.#scripts.petstoreLimits(2, windows, conduct, perMinute, perDay, strikes, act, this.#time());
  }

  async #address(address: string, { perMinute, perDay }: Quota, act: "count" | "look"): Promise<Admission> {
    const windows = `${this.#prefix}{${address}}:address`;
    return toAdmission(await this.#scripts.petstoreLimits(1, windows, perMinute, perDay, 0, act, this.#time()));
  }
}

function toAdmission([verdict, limit, remaining, reset, retryAfter]: number[]): Admission {
  return {
    verdict: verdicts[verdict as number] as Admission["verdict"],
    limit: limit as number,
    remaining: remaining as number,
    reset: reset as number,
    retryAfter: retryAfter as number,
  };
}
