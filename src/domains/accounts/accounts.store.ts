import type { Scope } from "../../contract/operation.ts";
import { type MaybePromise, whenReady } from "../../maybe-promise.ts";
import { all, first, type Row, type Storage, statement, type Transaction } from "../../storage/storage.ts";
import { generateApiKey, type KeyWorld, keyDigest } from "./api-key.ts";
import { type Plan, plans, type Quota } from "./plans.ts";
import { randomBase62 } from "./random-text.ts";

/** A customer. Quotas count for all of its keys together. */
export interface Account extends Quota {
  readonly id: string;
  readonly name: string;
  readonly plan: Plan;
  /** Unix milliseconds, as all times of this file. */
  readonly createdAt: number;
}

/** An API key, as far as it is known after it was shown: not the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Start and end of the key, to tell it from others. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A key together with its account's quota: all that a request needs to know. */
export interface KeyOwner {
  readonly key: ApiKey;
  readonly quota: Quota;
}

/** A new key: the only moment at which its text is known. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKey;
}

/** A wish that cannot be fulfilled, in words for the person who had it. */
export class AccountsError extends Error {
  override readonly name = "AccountsError";
}

interface AccountRow extends Row {
  id: string;
  name: string;
  plan: string;
  per_minute: bigint | null;
  per_day: bigint | null;
  created_at: bigint;
}

interface KeyRow extends Row {
  id: string;
  account_id: string;
  name: string;
  hint: string;
  scopes: string;
  created_at: bigint;
  expires_at: bigint | null;
  revoked_at: bigint | null;
  last_used_at: bigint | null;
}

interface OwnerRow extends KeyRow {
  plan: string;
  per_minute: bigint | null;
  per_day: bigint | null;
}

const accountColumns = "id, name, plan, per_minute, per_day, created_at";
const keyColumns = "id, account_id, name, hint, scopes, created_at, expires_at, revoked_at, last_used_at";

const allAccounts = statement<AccountRow>(`SELECT ${accountColumns} FROM accounts ORDER BY created_at, id`);
const accountById = statement<AccountRow>(`SELECT ${accountColumns} FROM accounts WHERE id = $1`);
const insertAccount = statement<AccountRow>(
  `INSERT INTO accounts (${accountColumns}) VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${accountColumns}`,
);
const updatePlan = statement<AccountRow>(
  `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3 WHERE id = $4 RETURNING ${accountColumns}`,
);
const keysOfAll = statement<KeyRow>(`SELECT ${keyColumns} FROM api_keys ORDER BY created_at, id`);
const keysOfAccount = statement<KeyRow>(
  `SELECT ${keyColumns} FROM api_keys WHERE account_id = $1 ORDER BY created_at, id`,
);
const keyById = statement<KeyRow>(`SELECT ${keyColumns} FROM api_keys WHERE id = $1`);
// Not a join: SQLite takes twenty times longer for one, even where no key is found.
const ownerOfValidKey = statement<OwnerRow>(
  `SELECT ${keyColumns},
     (SELECT plan FROM accounts WHERE accounts.id = account_id) AS plan,
     (SELECT per_minute FROM accounts WHERE accounts.id = account_id) AS per_minute,
     (SELECT per_day FROM accounts WHERE accounts.id = account_id) AS per_day
   FROM api_keys WHERE digest = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
);
const insertKey = statement<KeyRow>(
  `INSERT INTO api_keys (id, account_id, name, digest, hint, scopes, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${keyColumns}`,
);
// A key that is revoked, or that ends sooner already, stays so. A revoked one loses its digest: looking
// it up is then, down to the time that it takes, looking up a key that never was.
const revoke = statement<KeyRow>(
  `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $1), digest = 'revoked ' || id WHERE id = $2
   RETURNING ${keyColumns}`,
);
const expire = statement<KeyRow>(
  `UPDATE api_keys SET expires_at = $1 WHERE id = $2 AND (expires_at IS NULL OR expires_at > $3)`,
);
const touch = statement(
  `UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
);

function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

function toQuota(row: Pick<AccountRow, "plan" | "per_minute" | "per_day">): Quota {
  const figures = plans[row.plan as Plan];
  if (figures !== "custom") return figures;
  return { perMinute: Number(row.per_minute), perDay: Number(row.per_day) };
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as Plan,
    ...toQuota(row),
    createdAt: Number(row.created_at),
  };
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes.split(",") as Scope[],
    createdAt: Number(row.created_at),
    expiresAt: toNumber(row.expires_at),
    revokedAt: toNumber(row.revoked_at),
    lastUsedAt: toNumber(row.last_used_at),
  };
}

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
    return whenReady(
      this.#storage.first(ownerOfValidKey, digest, now),
      (row) => row && { key: toApiKey(row), quota: toQuota(row) },
    );
  }

  /** Throws `AccountsError` where plan and quota do not go together. */
  async createAccount(name: string, plan: Plan, quota: Quota | undefined, now: number): Promise<Account> {
    const [perMinute, perDay] = customFigures(plan, quota);
    const id = `acc_${randomBase62(16)}`;
    return this.#change(function* () {
      const row = yield* first(insertAccount, id, name, plan, perMinute, perDay, now);
      return toAccount(row as AccountRow);
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
    const key = generateApiKey(this.#world);
    const insert = insertKeyStep(key, accountId, name, scopes, now);
    return this.#change(function* () {
      if (!(yield* first(accountById, accountId))) throw new AccountsError(`There is no account ${accountId}.`);
      return { key, record: yield* insert() };
    });
  }

  /**
   * Issues a key like the given one, which stays valid for `overlap` milliseconds more. Throws
   * `AccountsError` where there is no such key or it is not valid any more.
   */
  async rotateKey(keyId: string, overlap: number, now: number): Promise<IssuedKey & { readonly replaced: ApiKey }> {
    const key = generateApiKey(this.#world);
    return this.#change(function* () {
      const old = yield* first(keyById, keyId);
      if (!old) throw new AccountsError(`There is no key ${keyId}.`);
      const { accountId, name, scopes, revokedAt, expiresAt } = toApiKey(old);
      if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) {
        throw new AccountsError(`The key ${keyId} is not valid any more; create a new one instead.`);
      }
      const record = yield* insertKeyStep(key, accountId, name, scopes, now)();
      yield* all(expire, now + overlap, keyId, now + overlap);
      const replaced = yield* first(keyById, keyId);
      return { key, record, replaced: toApiKey(replaced as KeyRow) };
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

function insertKeyStep(key: string, accountId: string, name: string, scopes: readonly Scope[], now: number) {
  const id = `key_${randomBase62(16)}`;
  const hint = `${key.slice(0, 11)}…${key.slice(-4)}`;
  return function* () {
    const row = yield* first(insertKey, id, accountId, name, keyDigest(key), hint, scopes.join(","), now);
    return toApiKey(row as KeyRow);
  };
}
