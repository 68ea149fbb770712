import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { endAll } from "../shops/shops.statements.ts";
import { createShops, lockShops } from "../shops/shops.store.ts";
import { type AccountListener, noteAccountChange } from "./account-changes.store.ts";
import * as sql from "./accounts.statements.ts";
import { type AccountRow, toAccount } from "./accounts.statements.ts";
import {
  type Account,
  type Agreement,
  animalsAllowed,
  noSuchAccount,
  OperatorError,
  type Plan,
  plans,
} from "./accounts.ts";
import { randomBase62 } from "./base62.ts";

/** The quota to store: a custom plan needs one. Other plans allow none and store nulls. */
function customQuota(plan: Plan, quota: Agreement | undefined): [number | null, number | null, number | null] {
  if (plans[plan] === "custom") {
    if (!quota)
      throw new OperatorError("invalid_quota", `The plan ${plan} needs a quota: requests per minute and per day.`);
    return [quota.perMinute, quota.perDay, quota.animals ?? null];
  }
  if (quota)
    throw new OperatorError("invalid_quota", `The plan ${plan} has a fixed quota; only enterprise takes another.`);
  return [null, null, null];
}

/**
 * Part of a transaction: sets how many animals the shops of an account may hold. If it is the first part, it locks them
 * like `lockShops`.
 */
function* boundShops(accountId: string, plan: Plan, quota: Agreement | undefined): Change<void> {
  const { test, live } = animalsAllowed(plan, quota?.animals);
  yield* all(sql.setAllowed, accountId, "test", test);
  yield* all(sql.setAllowed, accountId, "live", live);
}

/** The accounts of customers. Their keys are in the `KeyStore`. */
export class AccountStore {
  readonly #storage: Storage;
  readonly #changed: AccountListener;

  /** `changed` is called after each change of an existing account through this object. */
  constructor(storage: Storage, changed: AccountListener = () => {}) {
    this.#storage = storage;
    this.#changed = changed;
  }

  async list(): Promise<Account[]> {
    return (await this.#storage.read(all(sql.allAccounts))).map(toAccount);
  }

  *get(id: string): Query<Account | undefined> {
    const row = yield* first(sql.accountById, id);
    return row && toAccount(row);
  }

  /** Rejects with `OperatorError` if the account does not exist. One that is being deleted still does. */
  async find(id: string): Promise<Account> {
    const account = await this.#storage.read(this.get(id));
    if (!account) throw noSuchAccount(id);
    return account;
  }

  /** Part of a transaction: creates an account and its shops. Throws `OperatorError` if the plan does not allow the quota. */
  *create(name: string, plan: Plan, quota: Agreement | undefined, now: number): Change<Account> {
    const agreed = customQuota(plan, quota);
    const id = `acc_${randomBase62(16)}`;
    yield* createShops(id);
    yield* boundShops(id, plan, quota);
    return toAccount((yield* first(sql.insertAccount, id, name, plan, ...agreed, now)) as AccountRow);
  }

  /** Throws `OperatorError` if the plan does not allow the quota. */
  createAccount(name: string, plan: Plan, quota: Agreement | undefined, now: number): Promise<Account> {
    return this.#storage.write(() => this.create(name, plan, quota, now));
  }

  /** Throws `OperatorError` if the account does not exist or is being deleted. */
  rename(accountId: string, name: string): Promise<Account> {
    return this.#change(accountId, () => first(sql.updateName, name, accountId));
  }

  /** Throws `OperatorError` like `rename`, or if the plan does not allow the quota. */
  async setPlan(accountId: string, plan: Plan, quota: Agreement | undefined): Promise<Account> {
    const agreed = customQuota(plan, quota);
    const changed = this.#changed;
    return this.#write(accountId, function* () {
      yield* boundShops(accountId, plan, quota); // first: see `lockShops`
      yield* noteAccountChange(accountId, changed);
      return yield* first(sql.updatePlan, plan, ...agreed, accountId);
    });
  }

  /** Suspends an account. Repeating it is not an error. Throws `OperatorError` like `rename`. */
  suspend(accountId: string, now: number): Promise<Account> {
    return this.#change(accountId, () => first(sql.suspend, now, accountId));
  }

  /** Resumes an account. Repeating it is not an error. Throws `OperatorError` like `rename`. */
  resume(accountId: string): Promise<Account> {
    return this.#change(accountId, () => first(sql.resume, accountId));
  }

  /**
   * Deletes an account. Its keys become invalid, and its shops reject writes. Its data is removed in the background.
   * Until that is done, repeating it is not an error. Throws `OperatorError` if the account does not exist.
   */
  delete(accountId: string, now: number): Promise<Account> {
    const noteChange = () => noteAccountChange(accountId, this.#changed);
    return this.#write(accountId, function* () {
      yield* lockShops(accountId, now); // first: see there
      yield* noteChange();
      const deleted = yield* first(sql.markDeleted, now, accountId);
      if (deleted) yield* all(endAll, now, accountId);
      return deleted;
    });
  }

  #change(accountId: string, change: () => Change<AccountRow | undefined>): Promise<Account> {
    const changed = this.#changed;
    return this.#write(accountId, function* () {
      yield* noteAccountChange(accountId, changed);
      return yield* change();
    });
  }

  async #write(accountId: string, change: () => Change<AccountRow | undefined>): Promise<Account> {
    const row = await this.#storage.write(change);
    if (!row) throw noSuchAccount(accountId);
    return toAccount(row);
  }
}
