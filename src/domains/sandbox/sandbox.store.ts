import type { Caller, ShopName, ShopNumber } from "../../contract/caller.ts";
import { type DueTimes, waitingKinds } from "../../contract/due-times.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { query, type Row } from "../../storage/statement.ts";
import type { ChangesOfStore, Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Read } from "../../storage/transaction.ts";
import type { Clock } from "../../timing/clock.ts";
import type { Author } from "../events/publish.ts";
import { allAnimals } from "../pets/counts/pet-figures.ts";
import { keepAllowed } from "../pets/counts/pets-in-shop.store.ts";
import { currentShop, lockShop, replaceShop, ShopDeleted } from "../shops/shops.store.ts";
import type { Sandbox } from "./sandbox.operations.ts";

/** The maximum number of items of one kind that a request processes or counts. */
const MAX_ITEMS = 10_000;

interface ContentsRow extends Row {
  animals: bigint;
  categories: bigint;
  orders: bigint;
}

// Orders are never deleted, so the last id is the number of orders.
const contents = query<[shop: ShopNumber], ContentsRow>(`
  SELECT last_order_id AS orders, ${allAnimals} AS animals,
    (SELECT count(*) FROM categories WHERE shop = $1) AS categories
  FROM shops WHERE shop = $1
`);

/** The parts of the service that sandboxes use. */
export interface SandboxParts {
  readonly storage: Storage & Pick<ChangesOfStore, "changesPropagated">;
  readonly clock: Clock;
  readonly dueTimes: readonly DueTimes[];
  /** Part of a transaction that gives an account a new shop. */
  readonly noteReset: (accountId: string) => Change<void>;
  /** Part of a transaction: adds samples to the author's shop, which is empty. `now` is in Unix milliseconds. */
  readonly addSamples: (author: Author, now: number) => Change<void>;
  /** Called after a fast-forward: background work may be due. */
  readonly onFastForward: () => void;
}

/** The sandboxes of accounts. */
export class SandboxStore {
  readonly #parts: SandboxParts;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  *get(name: ShopName): Read<Sandbox> {
    const shop = yield* currentShop(name);
    const held = yield* first(contents, shop);
    const waiting: Sandbox["waiting"] = [];
    for (const owner of this.#parts.dueTimes) {
      for (const { kind, count, next } of yield* owner.waiting({ ...name, shop }, MAX_ITEMS))
        waiting.push({ kind, count, next: timestampOf(next) });
    }
    return {
      animals: Number(held?.animals),
      categories: Number(held?.categories),
      orders: Number(held?.orders),
      waiting: waiting.toSorted((one, other) => waitingKinds.indexOf(one.kind) - waitingKinds.indexOf(other.kind)),
    };
  }

  /** Part of a transaction: all that waits is due this many milliseconds earlier. Call `concludeFastForward` afterwards. */
  *fastForward(caller: Caller, by: number): Change<void> {
    yield* lockShop(caller.shop, this.#parts.clock.now());
    for (const owner of this.#parts.dueTimes) if (owner.bringNearer) yield* owner.bringNearer(caller, by);
  }

  /**
   * Does what a fast-forward has left to do, and returns the sandbox. If a reset has replaced the
   * caller's shop in between, nothing is due in the new one.
   */
  async concludeFastForward(caller: Caller, by: number) {
    const { storage, dueTimes, onFastForward } = this.#parts;
    const shop = await storage.read(currentShop(caller));
    await Promise.all(
      dueTimes.map(async (owner) => owner.finish?.({ ...caller, shop }, by, MAX_ITEMS).catch(unlessDeleted)),
    );
    onFastForward();
    return { body: await storage.read(this.get(caller)) };
  }

  /** Part of a transaction: replaces a sandbox with a new shop. Returns its number. Call `concludeReset` afterwards. */
  *reset(name: ShopName, author: Author, animals: "none" | "samples"): Change<ShopNumber> {
    const now = this.#parts.clock.now();
    const locked = yield* lockShop(author.shop, now);
    const replacement = yield* replaceShop(locked, name, now);
    yield* all(keepAllowed, replacement, author.shop);
    if (animals === "samples") yield* this.#parts.addSamples({ ...author, shop: replacement }, now);
    yield* this.#parts.noteReset(name.accountId);
    return replacement;
  }

  /** Returns the sandbox when all processes know its new shop. */
  async concludeReset(name: ShopName) {
    const { storage } = this.#parts;
    await storage.changesPropagated();
    const shop = await storage.read(currentShop(name));
    return { body: await storage.read(this.get(name)), shop };
  }
}

function unlessDeleted(error: unknown): void {
  if (!(error instanceof ShopDeleted)) throw error;
}
