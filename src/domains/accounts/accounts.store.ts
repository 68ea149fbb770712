import { scopes as allScopes, type Scope } from "../../contract/operation.ts";
import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import type { Quota } from "../../quota.ts";
import { all, first, type Storage, type Transaction } from "../../storage/storage.ts";
import {
  type AccountRow,
  accountById,
  allAccounts,
  expire,
  insertAccount,
  insertKey,
  type KeyRow,
  keyById,
  keysOfAccount,
  keysOfAll,
  ownerOfValidKey,
  revoke,
  toAccount,
  toApiKey,
  toKeyOwner,
  touch,
  updatePlan,
} from "./accounts.statements.ts";
import { type Account, AccountsError, type ApiKey, type IssuedKey, type KeyOwner } from "./accounts.ts";
import { generateApiKey, type KeyWorld, keyDigest } from "./api-key.ts";
import { settleKeyWorld } from "./key-world.store.ts";
import { type Plan, plans } from "./plans.ts";
import { randomBase62 } from "./random-text.ts";

/** Figures belong to a plan without figures of its own, and only there. */
function customFigures(plan: Plan, quota: Quota | undefined): [number | null, number | null] {
  if (plans[plan] === "custom") {
    if (!quota) throw new AccountsError(`The plan ${plan} needs figures: requests per minute and per day.`);
    return [quota.perMinute, quota.perDay];
  }
  if (quota) throw new AccountsError(`The plan ${plan} has fixed figures; only enterprise takes others.`);
  return [null, null];
}

/** Accounts and their keys. */
export class AccountStore {
  readonly #storage: Storage;
  readonly #world: KeyWorld;
  readonly #changed: () => void;

  /** `changed` is called after every change of an account or a key through this object. */
  constructor(storage: Storage, world: KeyWorld, changed: () => void = () => {}) {
    this.#storage = storage;
    this.#world = world;
    this.#changed = changed;
  }

  accounts(): MaybePromise<Account[]> {
    return whenReady(this.#storage.all(allAccounts), (rows) => rows.map(toAccount));
  }

  /** All keys, or those of one account; revoked ones too. */
  keys(accountId?: string): MaybePromise<ApiKey[]> {
    const rows = accountId === undefined ? this.#storage.all(keysOfAll) : this.#storage.all(keysOfAccount, accountId);
    return whenReady(rows, (found) => found.map(toApiKey));
  }

  /** The key with this digest and its owner's quota, if the key is valid: neither revoked nor expired. */
  findValid(digest: string, now: number): MaybePromise<KeyOwner | undefined> {
    return whenReady(this.#storage.first(ownerOfValidKey, digest, now), (row) => row && toKeyOwner(row));
  }

  /** Throws `AccountsError` where plan and quota do not go together. */
  async createAccount(name: string, plan: Plan, quota: Quota | undefined, now: number): Promise<Account> {
    return this.#change(accountStep(name, plan, quota, now));
  }

  /** Makes an account on a plan with figures of its own, and a key that may do everything: both or none. */
  async createAccountWithKey(name: string, plan: Plan, keyName: string, now: number): Promise<IssuedKey> {
    const create = accountStep(name, plan, undefined, now);
    const issue = issueStep(this.#world);
    return this.#change(function* () {
      const { id } = yield* create();
      return yield* issue(id, keyName, allScopes, now);
    });
  }

  /** Throws `AccountsError` where there is no such account or plan and quota do not go together. */
  async setPlan(accountId: string, plan: Plan, quota: Quota | undefined): Promise<Account> {
    const [perMinute, perDay] = customFigures(plan, quota);
    return this.#change(function* () {
      const row = yield* first(updatePlan, plan, perMinute, perDay, accountId);
      if (!row) throw new AccountsError(`There is no account ${accountId}.`);
      return toAccount(row);
    });
  }

  /** Throws `AccountsError` where there is no such account. */
  async issueKey(accountId: string, name: string, scopes: readonly Scope[], now: number): Promise<IssuedKey> {
    const issue = issueStep(this.#world);
    return this.#change(function* () {
      if (!(yield* first(accountById, accountId))) throw new AccountsError(`There is no account ${accountId}.`);
      return yield* issue(accountId, name, scopes, now);
    });
  }

  /**
   * Issues a key like the given one, which stays valid for `overlap` milliseconds more. Throws
   * `AccountsError` where there is no such key or it is not valid any more.
   */
  async rotateKey(keyId: string, overlap: number, now: number): Promise<IssuedKey & { readonly replaced: ApiKey }> {
    const issue = issueStep(this.#world);
    return this.#change(function* () {
      const old = yield* first(keyById, keyId);
      if (!old) throw new AccountsError(`There is no key ${keyId}.`);
      const { accountId, name, scopes, revokedAt, expiresAt } = toApiKey(old);
      if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) {
        throw new AccountsError(`The key ${keyId} is not valid any more; create a new one instead.`);
      }
      const issued = yield* issue(accountId, name, scopes, now);
      yield* all(expire, now + overlap, keyId, now + overlap);
      const replaced = yield* first(keyById, keyId);
      return { ...issued, replaced: toApiKey(replaced as KeyRow) };
    });
  }

  /** Ends a key for good; again is no error. Throws `AccountsError` where there is no such key. */
  async revokeKey(keyId: string, now: number): Promise<ApiKey> {
    return this.#change(function* () {
      const row = yield* first(revoke, now, keyId);
      if (!row) throw new AccountsError(`There is no key ${keyId}.`);
      return toApiKey(row);
    });
  }

  /** Notes when keys were last used: pairs of a key's id and unix milliseconds. */
  async noteUses(uses: readonly (readonly [string, number])[]): Promise<void> {
    await this.#storage.write(function* () {
      for (const [keyId, usedAt] of uses) yield* all(touch, usedAt, keyId, usedAt);
    });
  }

  async #change<T>(body: () => Transaction<T>): Promise<T> {
    const result = await this.#storage.write(body);
    this.#changed();
    return result;
  }
}

/** A step that makes an account. Throws `AccountsError` where plan and quota do not go together. */
function accountStep(name: string, plan: Plan, quota: Quota | undefined, now: number) {
  const [perMinute, perDay] = customFigures(plan, quota);
  const id = `acc_${randomBase62(16)}`;
  return function* (): Transaction<Account> {
    const row = yield* first(insertAccount, id, name, plan, perMinute, perDay, now);
    return toAccount(row as AccountRow);
  };
}

/** A step that issues one key. The key is made here: a transaction that runs again gives the same. */
function issueStep(world: KeyWorld) {
  const key = generateApiKey(world);
  const id = `key_${randomBase62(16)}`;
  const hint = `${key.slice(0, 11)}…${key.slice(-4)}`;
  return function* (accountId: string, name: string, scopes: readonly Scope[], now: number): Transaction<IssuedKey> {
    if ((yield* settleKeyWorld(world)) !== world) throw new AccountsError("The store belongs to another environment.");
    const row = yield* first(insertKey, id, accountId, name, keyDigest(key), hint, scopes.join(","), now);
    return { key, record: toApiKey(row as KeyRow) };
  };
}
