import type { Mode, Scope } from "../../contract/operation.ts";
import { type Page, pageOf } from "../../storage/page.ts";
import { afterCommit, all, each, first, type Storage, type Transaction } from "../../storage/storage.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { accountById } from "../accounts/accounts.statements.ts";
import { AccountsError } from "../accounts/accounts.ts";
import { randomBase62 } from "../accounts/random-text.ts";
import { generateApiKey, keyDigest } from "./api-key.ts";
import { type KeyEnvironment, modesOf } from "./key-environment.ts";
import {
  countKeys,
  expire,
  forgetEndedKeys,
  insertKey,
  type KeyRow,
  keyById,
  keysAfter,
  keysOfAccount,
  keysOfAll,
  keysOfModeAfter,
  ownerOfValidKey,
  revoke,
  toApiKey,
  toKeyOwner,
  touch,
  validKeys,
} from "./keys.statements.ts";
import { type ApiKey, type IssuedKey, isValid, type KeyOwner, type NewKey, type Rotation } from "./keys.ts";
import { ensureEnvironment } from "./store-environment.store.ts";

/** Keys of an account and mode that are kept: beyond it, of those that have ended the oldest are forgotten. */
const KEPT_KEYS = 1_000n;

/** The API keys of accounts. */
export class KeyStore {
  readonly #storage: Storage;
  readonly #environment: KeyEnvironment;
  readonly #changed: () => void;

  /** `changed` is called after every change of what a key that exists may do, through this object. */
  constructor(storage: Storage, environment: KeyEnvironment, changed: () => void = () => {}) {
    this.#storage = storage;
    this.#environment = environment;
    this.#changed = changed;
  }

  /** All keys, or those of one account; revoked ones too. */
  list(accountId?: string): MaybePromise<ApiKey[]> {
    const rows = accountId === undefined ? this.#storage.all(keysOfAll) : this.#storage.all(keysOfAccount, accountId);
    return whenReady(rows, (found) => found.map(toApiKey));
  }

  get(id: string): MaybePromise<ApiKey | undefined> {
    return whenReady(this.#storage.first(keyById, id), (row) => row && toApiKey(row));
  }

  /**
   * Up to `limit` keys of an account, or of one of its modes, behind a position, from the first on if it is absent, in
   * the order of their making.
   */
  page(
    accountId: string,
    mode: Mode | undefined,
    after: string | undefined,
    limit: number,
  ): MaybePromise<Page<ApiKey, string>> {
    const [createdAt, id] = after === undefined ? [-1, ""] : readPosition(after);
    const rows =
      mode === undefined
        ? this.#storage.all(keysAfter, accountId, createdAt, id, limit + 1)
        : this.#storage.all(keysOfModeAfter, accountId, mode, createdAt, id, limit + 1);
    return whenReady(rows, (found) => pageOf(found, limit, toApiKey, (last) => `${last.created_at}-${last.id}`));
  }

  /** The key with this digest and its owner's quota, if the key is valid: neither revoked nor expired. */
  findValid(digest: string, now: number): MaybePromise<KeyOwner | undefined> {
    return whenReady(this.#storage.first(ownerOfValidKey, digest, now), (row) => row && toKeyOwner(row));
  }

  /** Part of a transaction: a key, also one that is not valid any more. */
  *find(keyId: string): Transaction<ApiKey | undefined> {
    const row = yield* first(keyById, keyId);
    return row && toApiKey(row);
  }

  /** Part of a transaction: the keys of an account and mode that are valid. */
  *valid(accountId: string, mode: Mode, now: number): Transaction<ApiKey[]> {
    return (yield* all(validKeys, accountId, mode, now)).map(toApiKey);
  }

  /** Part of a transaction: issues a key for an account that exists. */
  *issue(accountId: string, { mode, name, scopes, plannedEnd }: NewKey, now: number): Transaction<IssuedKey> {
    const { isProduction, cell } = this.#environment;
    if ((yield* ensureEnvironment(isProduction)) !== isProduction) {
      throw new AccountsError("The store belongs to another environment.");
    }
    if (!modesOf(this.#environment).includes(mode)) throw new AccountsError("Live keys exist in production only.");
    const { keys } = (yield* first(countKeys, accountId, mode)) as { keys: bigint };
    if (keys >= KEPT_KEYS) yield* all(forgetEndedKeys, accountId, mode, now, keys - KEPT_KEYS + 1n);
    const key = generateApiKey(mode, cell);
    const [id, hint] = [`key_${randomBase62(16)}`, `${key.slice(0, 11)}…${key.slice(-4)}`];
    const [digest, scopeList] = [keyDigest(key), scopes.join(",")];
    const row = yield* first(insertKey, id, accountId, mode, name, digest, hint, scopeList, now, plannedEnd);
    return { key, record: toApiKey(row as KeyRow) };
  }

  /** Part of a transaction: issues a key like one that is valid, which stays so for `overlap` milliseconds more. */
  *replace(key: ApiKey, overlap: number, now: number): Transaction<Rotation> {
    const issued = yield* this.issue(key.accountId, key, now);
    yield* all(expire, now + overlap, key.id, now + overlap);
    yield* afterCommit(this.#changed);
    return { ...issued, replaced: (yield* this.find(key.id)) as ApiKey };
  }

  /** Part of a transaction: ends a key for good; again is no error. Gives undefined where there is no such key. */
  *end(keyId: string, now: number): Transaction<ApiKey | undefined> {
    const row = yield* first(revoke, now, keyId);
    yield* afterCommit(this.#changed);
    return row && toApiKey(row);
  }

  /**
   * Issues a key, of the environment's first mode if none is given. Throws `AccountsError` where there is no such
   * account, or the environment has no keys of this mode.
   */
  async issueKey(
    accountId: string,
    name: string,
    scopes: readonly Scope[],
    now: number,
    mode: Mode = modesOf(this.#environment)[0],
  ): Promise<IssuedKey> {
    const issue = () => this.issue(accountId, { mode, name, scopes, plannedEnd: null }, now);
    return this.#storage.write(function* () {
      if (!(yield* first(accountById, accountId))) throw new AccountsError(`There is no account ${accountId}.`);
      return yield* issue();
    });
  }

  /**
   * Issues a key like the given one, which stays valid for `overlap` milliseconds more. Throws
   * `AccountsError` where there is no such key or it is not valid any more.
   */
  async rotateKey(keyId: string, overlap: number, now: number): Promise<Rotation> {
    const find = () => this.find(keyId);
    const replace = (key: ApiKey) => this.replace(key, overlap, now);
    return this.#storage.write(function* () {
      const old = yield* find();
      if (!old) throw new AccountsError(`There is no key ${keyId}.`);
      if (!isValid(old, now)) {
        throw new AccountsError(`The key ${keyId} is not valid any more; create a new one instead.`);
      }
      return yield* replace(old);
    });
  }

  /** Ends a key for good; again is no error. Throws `AccountsError` where there is no such key. */
  async revokeKey(keyId: string, now: number): Promise<ApiKey> {
    const ended = await this.#storage.write(() => this.end(keyId, now));
    if (!ended) throw new AccountsError(`There is no key ${keyId}.`);
    return ended;
  }

  /** Notes when keys were last used: pairs of a key's id and unix milliseconds. */
  async noteUses(uses: readonly (readonly [string, number])[]): Promise<void> {
    const noted = uses.map(([keyId, usedAt]) => [usedAt, keyId, usedAt]);
    await this.#storage.write(() => each(touch, noted));
  }
}

/** The time and the id in the position of a key. */
function readPosition(position: string): [number, string] {
  const dash = position.indexOf("-");
  return [Number(position.slice(0, dash)), position.slice(dash + 1)];
}
