import type { Caller } from "../contract/caller.ts";
import { type Clock, MINUTE_MS } from "../timing/clock.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Requests with invalid keys in a minute, of one address or of all others together, that are worth a line. */
const BURST = 10;
/** Addresses that are each logged in a line within a minute: those that sent most. */
const MAX_LINES = 20;
/** Addresses whose requests are counted separately within a minute, about 0.1 KB each. Others are in the total only. */
const MAX_ADDRESSES = 10_000;
interface AbuseLogOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whether lines name the addresses of clients. */
  readonly showsAddresses: boolean;
}

/**
 * Logs what operators should know of refusals: each new ban, and invalid keys in at most one line per address and minute.
 * Only refused requests are reported to it, so that others cost nothing. Its memory and the number of its lines are
 * bounded, however many addresses attack.
 */
export class AbuseLog {
  readonly #options: AbuseLogOptions;
  /** Requests with invalid keys in this minute, by address. */
  #invalidKeys = new Map<string, number>();
  /** The same of all addresses, including those beyond `MAX_ADDRESSES`. */
  #invalidKeysTotal = 0;
  #minuteEnds: number | undefined;

  readonly #counted = { bans: 0, invalidKeys: 0 };

  constructor(options: AbuseLogOptions) {
    this.#options = options;
    const { metrics } = options;
    metrics.counter("petstore_bans_total", "Bans of keys that this process has begun.", () => this.#counted.bans);
    metrics.counter(
      "petstore_invalid_keys_total",
      "Requests with a key that is not valid, those over the limit of their address included.",
      () => this.#counted.invalidKeys,
    );
  }

  /** Notes that a key was banned after this many strikes, for this many seconds, until this time in Unix milliseconds. */
  banned({ keyId, accountId }: Caller, ban: { until: number; seconds: number; strikes: number }): void {
    this.#counted.bans++;
    this.#options.log.warn("ban_started", { keyId, accountId, ...ban, until: new Date(ban.until).toISOString() });
  }

  /** Notes that a request came with a key that is not valid. */
  invalidKey(address: string): void {
    this.logEnded();
    this.#minuteEnds ??= this.#options.clock.monotonic() + MINUTE_MS;
    this.#counted.invalidKeys++;
    this.#invalidKeysTotal++;
    const count = this.#invalidKeys.get(address);
    if (count !== undefined) this.#invalidKeys.set(address, count + 1);
    else if (this.#invalidKeys.size < MAX_ADDRESSES) this.#invalidKeys.set(address, 1);
  }

  /** Logs the invalid keys after a minute. Call it twice a second. */
  logEnded(): void {
    const now = this.#options.clock.monotonic();
    if (this.#minuteEnds !== undefined && now >= this.#minuteEnds) this.logInvalidKeys();
  }

  /** Logs the invalid keys so far. A service that stops calls it before the minute is over. */
  logInvalidKeys(): void {
    const { log, showsAddresses } = this.#options;
    const addresses = [...this.#invalidKeys];
    const bursts = showsAddresses ? addresses.filter(([, count]) => count >= BURST) : [];
    const logged = bursts.toSorted(([, one], [, other]) => other - one).slice(0, MAX_LINES);
    for (const [address, count] of logged) log.warn("invalid_keys_rejected", { count, address });
    const rest = logged.reduce((left, [, count]) => left - count, this.#invalidKeysTotal);
    if (rest >= BURST) log.warn("invalid_keys_rejected", { count: rest, addresses: addresses.length - logged.length });
    this.#invalidKeys = new Map();
    this.#invalidKeysTotal = 0;
    this.#minuteEnds = undefined;
  }
}
