import type { Caller, ShopName } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { Limiter } from "../../http/interfaces.ts";
import { type Row, statement } from "../../storage/statement.ts";
import type { Storage } from "../../storage/storage.ts";
import { afterCommit, first, type Transaction } from "../../storage/transaction.ts";
import { type Clock, DAY_MS } from "../../timing/clock.ts";
import type { Author } from "../events/author.ts";
import { allAnimals } from "../shops/figures.ts";
import type { BackgroundWork, ForegroundWork } from "../shops/scheduled-work.ts";
import { currentShop, lockShop, replaceShop, ShopDeleted, setClock } from "../shops/shops.store.ts";
import { addSamples, type SampleStores } from "./samples.ts";
import type { Sandbox, SandboxClock, WaitingKind } from "./sandbox.operations.ts";

/** The maximum number of items of one kind that a request processes or counts. */
const MAX_ITEMS = 10_000;
/** The maximum by which a clock can be ahead of real time, in milliseconds: a hundred years. */
const MAX_AHEAD = 100 * 365.25 * DAY_MS;

interface ContentsRow extends Row {
  animals: bigint;
  categories: bigint;
  orders: bigint;
}

// Orders are never deleted, so the last id is the number of orders.
const contents = statement<[shop: number], ContentsRow>(`
  SELECT last_order_id AS orders, ${allAnimals} AS animals,
    (SELECT count(*) FROM categories WHERE shop = $1) AS categories
  FROM shops WHERE shop = $1
`);

/** The parts of the service that sandboxes use. */
export interface SandboxParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly limiter: Pick<Limiter, "setClockOffset">;
  readonly stores: SampleStores;
  readonly foregroundWork: readonly ForegroundWork<WaitingKind>[];
  readonly backgroundWork: readonly BackgroundWork<WaitingKind>[];
  /** Part of the transaction that advances a clock by this many milliseconds: the account's bans end so much earlier. */
  readonly bringBansNearer: (accountId: string, by: number) => Transaction<void>;
  /** Called when a reset has given an account a new shop. */
  readonly onReset: () => void;
  /** Called when a clock was advanced: background work may be due. */
  readonly onClockAdvanced: () => void;
}

/** The sandboxes of accounts: their clocks and their contents. */
export class SandboxStore {
  readonly #parts: SandboxParts;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  *get(name: ShopName): Transaction<Sandbox> {
    const { foregroundWork, backgroundWork } = this.#parts;
    const { shop, ahead } = yield* currentShop(name);
    const held = yield* first(contents, shop);
    const waiting: Sandbox["waiting"] = [];
    for (const one of [...foregroundWork, ...backgroundWork]) {
      const { count, next } = yield* one.waiting(shop, MAX_ITEMS);
      if (next !== undefined) waiting.push({ kind: one.kind, count, next: timestampOf(next) });
    }
    return {
      clock: this.#shown(ahead),
      animals: Number(held?.animals),
      categories: Number(held?.categories),
      orders: Number(held?.orders),
      waiting,
    };
  }

  /** Part of a transaction: advances the clock of a sandbox by this many milliseconds. Call `settle` afterwards. */
  *advance({ shop, accountId }: Caller, by: number): Transaction<SandboxClock | "too far"> {
    const locked = yield* lockShop(shop, this.#parts.clock.now());
    const ahead = locked.ahead + by;
    if (ahead > MAX_AHEAD) return "too far";
    yield* setClock(locked, ahead);
    for (const work of this.#parts.foregroundWork) yield* work.clockAdvanced(locked, ahead);
    yield* this.#parts.bringBansNearer(accountId, by);
    return this.#shown(ahead);
  }

  /**
   * Applies the clock of a sandbox to its limits, and does all due work. It can be called again. A reset may have
   * replaced the caller's shop since the clock was advanced, or may replace it during the call: the clock continues in the new
   * one, in which nothing is due.
   */
  async settle(caller: Caller): Promise<void> {
    const { storage, limiter, foregroundWork, onClockAdvanced } = this.#parts;
    const { shop, ahead } = await storage.read(currentShop(caller));
    await Promise.all([limiter.setClockOffset(caller, ahead), storage.accessChangesPropagated()]);
    try {
      for (const work of foregroundWork) await work.runDue(shop, MAX_ITEMS);
    } catch (error) {
      if (!(error instanceof ShopDeleted)) throw error;
    }
    onClockAdvanced();
  }

  /**
   * Part of a transaction: replaces a sandbox with a new shop. Returns its number and the clock. Call `resetPropagated`
   * afterwards.
   */
  *reset(
    name: ShopName,
    author: Author,
    animals: "none" | "samples",
  ): Transaction<{ readonly shop: number; readonly clock: SandboxClock }> {
    const now = this.#parts.clock.now();
    const locked = yield* lockShop(author.shop, now);
    const replacement = yield* replaceShop(locked, name, now);
    if (animals === "samples") yield* addSamples({ ...author, shop: replacement }, this.#parts.stores);
    yield* afterCommit(this.#parts.onReset);
    return { shop: replacement, clock: this.#shown(locked.ahead) };
  }

  /** Resolves when all processes know the shops that have replaced others. */
  resetPropagated(): Promise<void> {
    return this.#parts.storage.accessChangesPropagated();
  }

  #shown(ahead: number): SandboxClock {
    return { now: timestampOf(this.#parts.clock.now() + ahead), ahead: ahead / 1000 };
  }
}
