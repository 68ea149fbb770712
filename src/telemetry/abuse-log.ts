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
/** Bans that are remembered until they end, about 0.2 KB each. */
const MAX_BANS = 10_000;
/** By how much rounding can change the end of one ban, in milliseconds. */
export const BAN_END_ROUNDING = 2_000;

/** Whose key was refused. */
type KeyHolder = Pick<Caller, "keyId" | "accountId" | "perMinute">;

/** A refusal because of a ban: whole seconds until it ends, and its end in unix seconds. */
interface BanRefusal {
  readonly retryAfter: number;
  readonly reset: number;
}

interface KnownBan extends Pick<KeyHolder, "keyId" | "accountId"> {
  /** Milliseconds of the monotonic clock. */
  readonly endsAt: number;
  /** The same in Unix seconds. */
  readonly reset: number;
  /** True if it has ended earlier, because the clock of the sandbox was advanced. */
  isOver: boolean;
}

interface AbuseLogOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Whether lines name the addresses of clients. */
  readonly showsAddresses: boolean;
  /** How many strikes ban a key whose account has this minute limit. */
  readonly strikesForBan: (perMinute: number) => number;
  /**
   * Called when this process first refuses a key because of a ban, with the ban's end in Unix seconds. `earlierEnd` is
   * that of a ban of the key that this process knows to be over; 0 if there is none.
   */
  readonly onBan: (keyId: string, endsAt: number, earlierEnd: number) => void;
}

/**
 * Turns refusals into events for operators: a ban into its start and its end, invalid keys into at most one line per
 * address and minute. Only refused requests are reported to it, so that others cost nothing. Its memory and the number of
 * its lines are bounded, however many addresses attack.
 *
 * A process reports a ban when it first refuses the key, so several processes can report the same ban.
 */
export class AbuseLog {
  readonly #options: AbuseLogOptions;
  readonly #bans = new Map<string, KnownBan>();
  /** Requests with invalid keys in this minute, by address. */
  #invalidKeys = new Map<string, number>();
  /** The same of all addresses, including those beyond `MAX_ADDRESSES`. */
  #invalidKeysTotal = 0;
  #minuteEnds: number | undefined;

  readonly #counted = { bans: 0, invalidKeys: 0 };

  constructor(options: AbuseLogOptions) {
    this.#options = options;
    const { metrics } = options;
    metrics.counter(
      "petstore_bans_total",
      "Bans of keys that this process has started to enforce.",
      () => this.#counted.bans,
    );
    metrics.counter(
      "petstore_invalid_keys_total",
      "Requests with a key that is not valid, those over the limit of their address included.",
      () => this.#counted.invalidKeys,
    );
  }

  /** Notes that a request was refused because its key is banned. */
  banned({ keyId, accountId, perMinute }: KeyHolder, { retryAfter, reset }: BanRefusal): void {
    const { clock, log, strikesForBan, onBan } = this.#options;
    const endsAt = clock.monotonic() + retryAfter * 1000;
    const known = this.#bans.get(keyId);
    // The same ban. An end that is later by more than rounding is a new ban's: a fast-forward ended the known one.
    if (known && !known.isOver && endsAt < known.endsAt + BAN_END_ROUNDING) return;
    if (known) this.#end(known);
    else if (this.#bans.size >= MAX_BANS) this.#bans.delete(this.#bans.keys().next().value as string);
    this.#bans.set(keyId, { keyId, accountId, endsAt, reset, isOver: false });
    this.#counted.bans++;
    const until = new Date(reset * 1000).toISOString();
    onBan(keyId, reset, known?.reset ?? 0);
    log.warn("ban_started", { keyId, accountId, until, seconds: retryAfter, strikes: strikesForBan(perMinute) });
  }

  /** Notes that the limits of its shop refused a key, so it is not banned: a ban that is known has ended early. */
  limited({ keyId }: Pick<KeyHolder, "keyId">): void {
    const known = this.#bans.get(keyId);
    if (known) known.isOver = true;
  }

  /** Notes that the ban of a key was lifted. Its next ban is another one, which can end earlier. */
  lifted(keyId: string): void {
    const known = this.#bans.get(keyId);
    if (known) this.#end(known);
  }

  /** Notes that a request came with a key that is not valid. */
  invalidKey(address: string): void {
    const now = this.#options.clock.monotonic();
    if (this.#minuteEnds !== undefined && now >= this.#minuteEnds) this.logInvalidKeys();
    this.#minuteEnds ??= now + MINUTE_MS;
    this.#counted.invalidKeys++;
    this.#invalidKeysTotal++;
    const count = this.#invalidKeys.get(address);
    if (count !== undefined) this.#invalidKeys.set(address, count + 1);
    else if (this.#invalidKeys.size < MAX_ADDRESSES) this.#invalidKeys.set(address, 1);
  }

  /** Logs ended bans and, after a minute, the invalid keys. Call it twice a second. */
  logEnded(): void {
    const now = this.#options.clock.monotonic();
    for (const ban of this.#bans.values()) if (now >= ban.endsAt) this.#end(ban);
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

  #end({ keyId, accountId }: KnownBan): void {
    this.#bans.delete(keyId);
    this.#options.log.info("ban_ended", { keyId, accountId });
  }
}
