import { randomUUID } from "node:crypto";
import type { Quota } from "../../contract/quota.ts";
import type { Admission, Caller, Limiter, Standing } from "../../http/ports.ts";
import { RecentMap } from "../../storage/recent-map.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { ALIVE } from "./limits-script.ts";
import type { ValkeyCounts } from "./valkey-counts.ts";

const PATIENCE = 50;
/** How often the server is looked at, and how often requests that wait for it are. */
const LOOK = 250;
const WATCH = 10;
/** Keys whose bans are known here, for when the server is away. */
const BANS = 100_000;

/** The share of every limit that one process has while it decides alone: an equal one of all that run. */
export class Share {
  #processes = 1;
  #heardOfMost = 0;

  /** How many processes run, as far as is known. */
  get processes(): number {
    return this.#processes;
  }

  /** Notes how many were heard of. A server that forgot them makes nobody's share larger at once. */
  heardOf(processes: number): void {
    const now = performance.now();
    if (processes < this.#processes && now - this.#heardOfMost < ALIVE) return;
    this.#processes = processes;
    this.#heardOfMost = now;
  }

  /** The process's share of a quota: at least one request. It follows the number of processes. */
  of(quota: Quota): Quota {
    const part = (requests: number) => Math.max(1, Math.floor(requests / this.#processes));
    return {
      get perMinute() {
        return part(quota.perMinute);
      },
      get perDay() {
        return part(quota.perDay);
      },
    };
  }
}

/** A request that waits for the server. */
interface Waiting {
  readonly since: number;
  readonly decideHere: () => void;
}

export interface ValkeyLimiterOptions {
  readonly counts: ValkeyCounts;
  /** Decides while the server is away; on addresses, by their share of `addressQuota`. */
  readonly local: Limiter;
  readonly share: Share;
  readonly addressQuota: Quota;
  /** Told when this process begins to decide alone, with the reason, and when it ends. */
  readonly changed: (alone: boolean, reason?: Error) => void;
  /** How long a request waits for the server before it is decided here, in milliseconds; 50 if absent. */
  readonly patience?: number;
}

/**
 * The limiter of many processes: they count together in a Valkey or Redis server. While that is away, or
 * too slow, each process decides alone on its share of every limit, and no request fails or waits for it.
 */
export class ValkeyLimiter implements Limiter {
  readonly #options: ValkeyLimiterOptions;
  readonly #patience: number;
  readonly #process = randomUUID();
  readonly #waiting = new Set<Waiting>();
  readonly #bans = new RecentMap<string, { readonly until: number; readonly admission: Admission }>(BANS);
  readonly #timers: Timer[];
  #isAlone = false;
  /** When the look that is under way began. */
  #lookingSince: number | undefined;

  private constructor(options: ValkeyLimiterOptions) {
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
    this.#timers = [setInterval(() => void this.#look(), LOOK), setInterval(() => this.#watch(), WATCH)];
  }

  /** Opens it. It begins alone where the server does not answer in time. */
  static async open(options: ValkeyLimiterOptions): Promise<ValkeyLimiter> {
    const limiter = new ValkeyLimiter(options);
    await limiter.#look();
    return limiter;
  }

  /** True while this process decides alone. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  admit(caller: Caller): MaybePromise<Admission> {
    if (this.#isAlone) return this.#admitHere(caller);
    const { counts } = this.#options;
    return this.#ask(
      counts.admit(caller),
      () => this.#admitHere(caller),
      (admission) => {
        if (admission.verdict === "banned") this.#noteBan(caller.keyId, admission);
      },
    );
  }

  admitFree(caller: Caller): MaybePromise<Admission> {
    // Counted by each process for itself, as the port has it. The figures are those that all count.
    return whenReady(this.#options.local.admitFree(caller), (admission) =>
      admission.verdict === "limited"
        ? admission
        : whenReady(this.peek(caller), (standing) => freeAdmission(caller, standing)),
    );
  }

  peek(caller: Caller): MaybePromise<Standing> {
    const here = () => this.#options.local.peek(caller);
    return this.#isAlone ? here() : this.#ask(this.#options.counts.peek(caller), here);
  }

  admitAddress(address: string): MaybePromise<Admission> {
    const { counts, addressQuota } = this.#options;
    const here = () => this.#admitAddressHere(address, "admitAddress");
    return this.#isAlone ? here() : this.#ask(counts.admitAddress(address, addressQuota), here);
  }

  peekAddress(address: string): MaybePromise<Admission> {
    const { counts, addressQuota } = this.#options;
    const here = () => this.#admitAddressHere(address, "peekAddress");
    return this.#isAlone ? here() : this.#ask(counts.peekAddress(address, addressQuota), here);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#options.counts.close();
  }

  #admitHere(caller: Caller): MaybePromise<Admission> {
    const { local, share } = this.#options;
    const ban = this.#bans.get(caller.keyId);
    const rest = ban ? ban.until - performance.now() : 0;
    if (ban && rest > 0) return { ...ban.admission, retryAfter: Math.ceil(rest / 1000) };
    const { perMinute, perDay } = share.of(caller);
    const decided = local.admit({ ...caller, perMinute, perDay });
    return whenReady(decided, (admission) => ({
      ...admission,
      limit: admission.limit === perDay ? caller.perDay : caller.perMinute,
    }));
  }

  #admitAddressHere(address: string, look: "admitAddress" | "peekAddress"): MaybePromise<Admission> {
    const { local, share, addressQuota } = this.#options;
    const { perDay } = share.of(addressQuota);
    return whenReady(local[look](address), (admission) => ({
      ...admission,
      limit: admission.limit === perDay ? addressQuota.perDay : addressQuota.perMinute,
    }));
  }

  /** The server's answer, or one made here if it does not come in time. */
  #ask<T>(asked: Promise<T>, here: () => MaybePromise<T>, note: (answer: T) => void = () => {}): Promise<T> {
    return new Promise((resolve) => {
      const waiting: Waiting = { since: performance.now(), decideHere: () => resolve(here()) };
      this.#waiting.add(waiting);
      asked.then(
        (answer) => {
          if (!this.#waiting.delete(waiting)) return;
          note(answer);
          resolve(answer);
        },
        (error: unknown) => {
          if (this.#waiting.has(waiting)) this.#beginAlone(error as Error);
        },
      );
    });
  }

  /** Remembers a ban, so that it holds here too when the server is away. */
  #noteBan(keyId: string, admission: Admission): void {
    this.#bans.set(keyId, { until: performance.now() + admission.retryAfter * 1000, admission });
  }

  /** Requests that have waited long enough are decided here, and so are all others from now on. */
  #watch(): void {
    const [oldest] = this.#waiting;
    if (oldest && performance.now() - oldest.since > this.#patience) this.#beginAlone(tooSlow);
  }

  /** Looks whether the server answers in time, and how many processes count there. */
  async #look(): Promise<void> {
    const now = performance.now();
    if (this.#lookingSince !== undefined) {
      if (now - this.#lookingSince > this.#patience) this.#beginAlone(tooSlow);
      return;
    }
    this.#lookingSince = now;
    try {
      const { counts, share } = this.#options;
      share.heardOf(await counts.present(this.#process));
      if (performance.now() - now > this.#patience) this.#beginAlone(tooSlow);
      else this.#endAlone();
    } catch (error) {
      this.#beginAlone(error as Error);
    } finally {
      this.#lookingSince = undefined;
    }
  }

  #beginAlone(reason: Error): void {
    if (!this.#isAlone) {
      this.#isAlone = true;
      this.#options.changed(true, reason);
    }
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { decideHere } of waiting) decideHere();
  }

  #endAlone(): void {
    if (!this.#isAlone) return;
    this.#isAlone = false;
    this.#options.changed(false);
  }
}

const tooSlow = new Error("The server did not answer in time.");

/** The figures for a request that costs nothing: those of the ban, or of the window with the least remaining. */
function freeAdmission({ perMinute }: Caller, { minute, day, banEnds }: Standing): Admission {
  const { limit, remaining, reset } = minute.remaining < day.remaining ? minute : day;
  return banEnds === undefined
    ? { verdict: "admitted", limit, remaining, reset, retryAfter: 0 }
    : { verdict: "admitted", limit: perMinute, remaining: 0, reset: banEnds, retryAfter: 0 };
}
