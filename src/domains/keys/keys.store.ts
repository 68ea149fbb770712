import { type Ban, banEnd, nextBan } from "../../contract/bans.ts";
import type { Caller, Mode, Scope } from "../../contract/caller.ts";
import type { Failure } from "../../contract/errors.ts";
import { inLockOrder, together } from "../../storage/combined-steps.ts";
import { recordEnvironment } from "../../storage/environment.ts";
import { type Page, pageOf } from "../../storage/pages.ts";
import type { Storage } from "../../storage/storage.ts";
import { all, type Change, first, type Query } from "../../storage/transaction.ts";
import { type AccountListener, noteAccountChange } from "../accounts/account-changes.store.ts";
import { noSuchAccount, OperatorError } from "../accounts/accounts.ts";
import { randomBase62 } from "../accounts/base62.ts";
import { eventsOf, type NewEvent } from "../events/new-event.ts";
import { type Author, operator, publish, system, UNNAMED_KEY } from "../events/publish.ts";
import type { LockedShop } from "../shops/locked-shop.ts";
import { lockShopOf, lockShopOfKey, ShopDeleted, shopOf } from "../shops/shops.store.ts";
import { generateApiKey, type KeyEnvironment, keyDigest, modesOf } from "./api-key.ts";
import { keyBannedEvent, keyCreated, keyRevoked, keyRotated, keyUpdated } from "./keys.operations.ts";
import type { ApiKeyBody } from "./keys.schemas.ts";
import * as sql from "./keys.statements.ts";
import { type KeyRow, keyFields, toApiKey, toCaller } from "./keys.statements.ts";
import {
  type ApiKey,
  banOf,
  type IssuedKey,
  isValid,
  type KeyPatch,
  type NewKey,
  noSuchKey,
  type Rotation,
  toApiKeyBody,
} from "./keys.ts";

/** The maximum number of stored keys per account and mode. Beyond it, the oldest expired or revoked keys are deleted. */
const KEPT_KEYS = 1_000n;

const eventOf = eventsOf<ApiKeyBody>(({ id }) => ({ under: null, subjectId: id }));

/** A key as events show it: without its uses, which are no changes. */
function shown(key: ApiKey): ApiKeyBody {
  return toApiKeyBody({ ...key, lastUsedAt: null });
}

/** A key and its shop, which the transaction has locked. */
export interface LockedKey {
  readonly key: ApiKey;
  readonly locked: LockedShop;
}

/**
 * The API keys of accounts. `issueKey`, `rotateKey` and `revokeKey` are whole transactions, for commands. `issue`,
 * `rotate` and `revoke` are parts of a transaction that has locked the shop of the key.
 */
export class KeyStore {
  readonly #storage: Storage;
  readonly #environment: KeyEnvironment;
  readonly #changed: AccountListener;

  /** `changed` is called after each change through this object that affects what existing keys of an account may do. */
  constructor(storage: Storage, environment: KeyEnvironment, changed: AccountListener = () => {}) {
    this.#storage = storage;
    this.#environment = environment;
    this.#changed = changed;
  }

  /** All keys, or the keys of one account, including revoked ones, but none of deleted accounts. */
  async list(accountId?: string): Promise<ApiKey[]> {
    const rows = accountId === undefined ? all(sql.keysOfAll) : all(sql.keysOfAccount, accountId);
    return (await this.#storage.read(rows)).map(toApiKey);
  }

  /** A key, valid or not. */
  *find(id: string): Query<ApiKey | undefined> {
    const row = yield* first(sql.keyById, id);
    return row && toApiKey(row);
  }

  /**
   * Up to `limit` keys of an account, or of one of its modes, oldest first, after a position or from the start.
   */
  *page(
    accountId: string,
    mode: Mode | undefined,
    after: string | undefined,
    limit: number,
  ): Query<Page<ApiKey, string>> {
    const [createdAt, id] = after === undefined ? [-1, ""] : readPosition(after);
    const rows =
      mode === undefined
        ? yield* all(sql.keysAfter, accountId, createdAt, id, limit + 1)
        : yield* all(sql.keysOfModeAfter, accountId, mode, createdAt, id, limit + 1);
    return pageOf(rows, limit, toApiKey, (last) => `${last.created_at}-${last.id}`);
  }

  /** Who sends requests with the key of this digest. A failure says that it has expired or was revoked. */
  *findCaller(digest: string, now: number): Query<Caller | Failure | undefined> {
    const row = yield* first(sql.keyByDigest, digest);
    return row && toCaller(digest, row, now);
  }

  /**
   * The first step of a transaction: locks the keys of the mode of a key, and returns it; undefined if the account has no
   * such key. The lock is that of the shop, which gets the event (`lockShopOf`): otherwise, two concurrent requests could
   * both add the last allowed key.
   */
  *lockAndFind(accountId: string, keyId: string, now: number): Change<LockedKey | undefined> {
    const locked = yield* lockShopOfKey(accountId, keyId, now);
    const key = yield* this.find(keyId);
    if (key?.accountId !== accountId) return undefined;
    if (!locked) throw new ShopDeleted();
    return { key, locked };
  }

  /** Part of a transaction: the keys of an account and mode that are valid. */
  *valid(accountId: string, mode: Mode, now: number): Query<ApiKey[]> {
    return (yield* all(sql.validKeys, accountId, mode, now)).map(toApiKey);
  }

  /** Part of a transaction that has locked the shop of the new key: issues it. */
  *issue(locked: LockedShop, author: Author, newKey: NewKey, now: number): Change<IssuedKey> {
    const { accountId, mode, plannedEnd } = newKey;
    const { isProduction, cell } = this.#environment;
    if (!modesOf(this.#environment).includes(mode))
      throw new OperatorError("mode_not_available", "Live keys exist in production only.");
    const { keys } = (yield* first(sql.countKeys, accountId, mode)) as { keys: bigint };
    if (keys >= KEPT_KEYS) yield* all(sql.deleteEndedKeys, accountId, mode, now, Number(keys - KEPT_KEYS) + 1);
    const key = generateApiKey(mode, cell);
    const id = `key_${randomBase62(16)}`;
    const hint = `${key.slice(0, 11)}…${key.slice(-4)}`;
    const values = keyFields.values(newKey);
    const row = yield* first(sql.insertKey, id, keyDigest(key), hint, now, plannedEnd, ...values);
    if ((yield* recordEnvironment(isProduction)) !== isProduction) {
      throw new OperatorError("wrong_environment", "The store belongs to another environment.");
    }
    const record = toApiKey(row as KeyRow);
    yield* publishKey(locked, author, eventOf(keyCreated, shown(record)));
    return { key, record };
  }

  /** Part of a transaction: issues a replacement for a valid key, which stays valid for another `overlap` milliseconds. */
  *rotate({ key, locked }: LockedKey, author: Author, overlap: number, now: number): Change<Rotation> {
    yield* all(sql.expire, now + overlap, key.id, now + overlap);
    yield* noteAccountChange(key.accountId, this.#changed);
    const replaced = (yield* this.find(key.id)) as ApiKey;
    yield* publishKey(locked, author, eventOf(keyRotated, shown(replaced), shown(key)));
    return { ...(yield* this.issue(locked, author, key, now)), replaced };
  }

  /** Part of a transaction: changes the fields in the patch. */
  *update({ key, locked }: LockedKey, author: Author, patch: KeyPatch): Change<ApiKey> {
    const updated = { ...key, ...patch };
    if (!(yield* keyFields.update({ id: key.id }, key, updated))) return key;
    yield* noteAccountChange(key.accountId, this.#changed);
    yield* publishKey(locked, author, eventOf(keyUpdated, shown(updated), shown(key)));
    return updated;
  }

  /** Part of a transaction: revokes a key. Repeating it is not an error. */
  *revoke({ key, locked }: LockedKey, author: Author, now: number): Change<ApiKey> {
    const revoked = toApiKey((yield* first(sql.revoke, now, key.id)) as KeyRow);
    yield* noteAccountChange(key.accountId, this.#changed);
    if (key.revokedAt === null) yield* publishKey(locked, author, eventOf(keyRevoked, shown(revoked), shown(key)));
    return revoked;
  }

  /**
   * Issues a key, by default of the environment's first mode. Throws `OperatorError` if there is no such account, or the
   * environment has no keys of this mode.
   */
  async issueKey(
    accountId: string,
    name: string,
    scopes: readonly Scope[],
    now: number,
    mode: Mode = modesOf(this.#environment)[0],
    limitPerMinute: number | null = null,
  ): Promise<IssuedKey> {
    if ((await this.#storage.read(shopOf(accountId, mode))) === undefined) throw noSuchAccount(accountId);
    const newKey = { accountId, mode, name, scopes, limitPerMinute, plannedEnd: null };
    return this.#storage.write(() => this.#lockAndIssue(newKey, now));
  }

  *#lockAndIssue(newKey: NewKey, now: number): Change<IssuedKey> {
    const locked = yield* lockShopOf(newKey.accountId, newKey.mode, now);
    return yield* this.issue(locked, operator(locked.shop), newKey, now);
  }

  /**
   * Issues a replacement for a key, which stays valid for another `overlap` milliseconds. Throws `OperatorError` if the
   * key does not exist or is not valid.
   */
  async rotateKey(keyId: string, overlap: number, now: number): Promise<Rotation> {
    const rotation = await this.#change(keyId, now, (old) => {
      if (!isValid(old.key, now)) {
        throw new OperatorError("key_not_valid", `The key ${keyId} is not valid any more; create a new one instead.`);
      }
      return this.rotate(old, operator(old.locked.shop), overlap, now);
    });
    if (!rotation) throw noSuchKey(keyId);
    return rotation;
  }

  /** Revokes a key. Repeating it is not an error. Throws `OperatorError` if the key does not exist. */
  async revokeKey(keyId: string, now: number): Promise<ApiKey> {
    const revoked = await this.#change(keyId, now, (old) => this.revoke(old, operator(old.locked.shop), now));
    if (!revoked) throw noSuchKey(keyId);
    return revoked;
  }

  /** Bans a key, unless it is banned already. Undefined if it is not valid. */
  banKey(keyId: string, now: number): Promise<Ban | undefined> {
    return this.#change(keyId, now, (found) => this.#ban(found, now));
  }

  *#ban({ key, locked }: LockedKey, now: number): Change<Ban | undefined> {
    if (!isValid(key, now)) return undefined;
    const running = banEnd(key, now);
    if (running !== undefined) return { until: running, seconds: undefined };
    const { bannedUntil, bans, seconds } = nextBan(key, now);
    yield* all(sql.ban, bannedUntil, bans, key.id);
    yield* noteAccountChange(key.accountId, this.#changed);
    const banned = { ...shown(key), ...banOf({ ...key, bannedUntil, bans }, now) };
    yield* publish(locked, system(locked.shop), [eventOf(keyBannedEvent, banned)]);
    return { until: bannedUntil, seconds };
  }

  /**
   * Lifts the ban of a key, and returns the key and when the ban would have ended, in Unix milliseconds. Its next ban is a
   * first one. Throws `OperatorError` if the key does not exist or is not banned.
   */
  async liftBan(keyId: string, now: number): Promise<{ readonly key: ApiKey; readonly end: number }> {
    const changed = this.#changed;
    const lifted = await this.#change(keyId, now, function* ({ key }) {
      const end = banEnd(key, now);
      if (end === undefined) throw new OperatorError("key_not_banned", `The key ${keyId} is not banned.`);
      yield* all(sql.ban, null, 0, keyId);
      yield* noteAccountChange(key.accountId, changed);
      return { key, end };
    });
    if (!lifted) throw noSuchKey(keyId);
    return lifted;
  }

  /** Notes when keys were last used: pairs of a key's id and Unix milliseconds. */
  async noteUses(uses: readonly (readonly [string, number])[]): Promise<void> {
    const noted = inLockOrder(uses, ([keyId]) => keyId);
    await this.#storage.write(() => together(noted.map(([keyId, usedAt]) => all(sql.touch, usedAt, keyId, usedAt))));
  }

  /** Changes a key in a transaction. Undefined if there is no such key, or its account was deleted. */
  async #change<T>(keyId: string, now: number, change: (key: LockedKey) => Change<T>): Promise<T | undefined> {
    const owner = await this.#storage.read(first(sql.ownerOfKey, keyId));
    if (!owner) return undefined;
    const lockAndFind = () => this.lockAndFind(owner.account_id, keyId, now);
    return this.#storage.write(function* () {
      const found = yield* lockAndFind();
      return found && (yield* change(found));
    });
  }
}

/**
 * Part of a transaction: adds an event about a key to the log of its shop. A live key that changes a test key is not
 * named there: test keys know of no live key.
 */
function publishKey(locked: LockedShop, author: Author, event: NewEvent): Change<unknown> {
  const isOther = author.shop !== locked.shop;
  return publish(locked, isOther ? { ...author, actor: UNNAMED_KEY } : author, [event]);
}

/** The time and the id in the position of a key. */
function readPosition(position: string): [number, string] {
  const dash = position.indexOf("-");
  return [Number(position.slice(0, dash)), position.slice(dash + 1)];
}
