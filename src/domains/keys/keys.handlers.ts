import { scopes as allScopes, type Caller, type Mode } from "../../contract/caller.ts";
import { failure, invalidApiKey, invalidInput, lifetimeExceedsKey } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import { count } from "../../contract/messages.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { emptyPage } from "../../storage/pages.ts";
import type { Clock } from "../../timing/clock.ts";
import { authorOf } from "../events/publish.ts";
import { lockShopOf } from "../shops/shops.store.ts";
import type { KeyAuthenticator } from "./authenticator.ts";
import {
  keyEnded,
  keyNotFound,
  type keyOperations,
  lastAdminKey,
  limitExceedsKey,
  MAX_KEYS,
  MIN_LIFETIME,
  modeNotHeld,
  scopeNotHeld,
  tooManyKeys,
} from "./keys.operations.ts";
import type { KeyStore } from "./keys.store.ts";
import { type ApiKey, isValid, listedKey, toApiKeyBody } from "./keys.ts";

/** The minimum number of seconds that a key stays valid after it replaces itself, so that the request can be repeated. */
const MIN_OVERLAP = 60;

export function keyHandlers(
  store: KeyStore,
  authenticator: KeyAuthenticator,
  clock: Clock,
): Handlers<typeof keyOperations> {
  // A live key can change test keys. Such transactions lock both shops, in the order of `lockShops`.

  /** The first step of a transaction: locks a key of the caller's account that the caller can see. */
  function* lockVisibleKey(keyId: string, { accountId, mode }: Caller) {
    if (mode === "live") return yield* store.lockAndFind(accountId, keyId, clock.now());
    const locked = yield* lockShopOf(accountId, mode, clock.now());
    const key = yield* store.find(keyId);
    return key?.accountId === accountId && key.mode === "test" ? { key, locked } : undefined;
  }

  /**
   * Part of a transaction that has locked the keys of a mode, if any: locks those of the caller's mode too, and returns the
   * calling key if it is still valid. It may have been revoked since the request began, because a client can send the body
   * of a request later than its headers.
   */
  function* callingKey({ accountId, mode, keyId }: Caller, lockedMode: Mode | undefined) {
    if (mode !== lockedMode) yield* lockShopOf(accountId, mode, clock.now());
    const key = yield* store.find(keyId);
    return key && isValid(key, clock.now()) ? key : undefined;
  }

  return {
    *listKeys({ caller, query: { limit, mode }, after }) {
      if (mode && !canSee(caller, mode)) return emptyPage;
      const wanted = caller.mode === "test" ? "test" : mode;
      const page = yield* store.page(caller.accountId, wanted, after, limit);
      const now = clock.now();
      const items = page.items.map((key) => listedKey(key, authenticator.lastUse(key.id), now));
      return { ...page, items };
    },

    *createKey({ caller, requestId, body }) {
      const { name, scopes: wanted, mode = caller.mode, expiresIn, limitPerMinute = null } = body;
      const scopes = allScopes.filter((scope) => wanted.includes(scope));
      const missing = missingScopes(scopes, caller);
      if (missing.length > 0) return notHeld(missing);
      if (!canSee(caller, mode)) return failure(modeNotHeld, "A test key can create test keys only.");
      const { accountId } = caller;
      const locked = yield* lockShopOf(accountId, mode, clock.now());
      const calling = yield* callingKey(caller, mode);
      if (!calling) return callerEnded;
      const now = clock.now();
      const plannedEnd = expiresIn === undefined ? null : now + expiresIn * 1000;
      const end = calling.expiresAt;
      if (exceeds(plannedEnd, end)) return outlives(end, Math.floor((end - now) / 1000));
      const refused = limitRefusal(limitPerMinute, calling, caller);
      if (refused) return refused;
      if ((yield* store.valid(accountId, mode, now)).length >= MAX_KEYS) return maximumReached(mode);
      const newKey = { accountId, mode, name, scopes, limitPerMinute, plannedEnd };
      const { key, record } = yield* store.issue(locked, authorOf(caller, requestId), newKey, now);
      return { body: { key, ...toApiKeyBody(record) } };
    },

    *updateKey({ caller, requestId, params: { keyId }, body }) {
      const found = yield* lockVisibleKey(keyId, caller);
      const calling = yield* callingKey(caller, found?.key.mode);
      if (!calling) return callerEnded;
      if (!found) return notFound;
      const { key } = found;
      if (!isValid(key, clock.now()))
        return failure(keyEnded, `The key ${keyId} is no longer valid. Create another one.`);
      const { limitPerMinute } = body;
      const refused = limitPerMinute === undefined ? undefined : limitRefusal(limitPerMinute, calling, caller);
      if (refused) return refused;
      const updated = yield* store.update(found, authorOf(caller, requestId), body);
      return { body: toApiKeyBody(updated, authenticator.lastUse(keyId)) };
    },

    *rotateKey({ caller, requestId, params: { keyId }, query: { overlap } }) {
      const found = yield* lockVisibleKey(keyId, caller);
      const calling = yield* callingKey(caller, found?.key.mode);
      if (!calling) return callerEnded;
      if (!found) return notFound;
      const old = found.key;
      const { expiresAt } = calling;
      const now = clock.now();
      if (!isValid(old, now)) return failure(keyEnded, `The key ${keyId} is no longer valid. Create another one.`);
      const missing = missingScopes(old.scopes, caller);
      if (missing.length > 0) return notHeld(missing);
      if (exceeds(old.plannedEnd, expiresAt)) return outlives(expiresAt);
      if (exceeds(old.limitPerMinute, calling.limitPerMinute)) return aboveOwn(calling.limitPerMinute);
      if (keyId === caller.keyId && overlap < MIN_OVERLAP) return tooLittleOverlap;
      // With an overlap, both keys are valid for a while.
      if (overlap > 0 && (yield* store.valid(caller.accountId, old.mode, now)).length >= MAX_KEYS)
        return maximumReached(old.mode);
      const { key, record, replaced } = yield* store.rotate(found, authorOf(caller, requestId), overlap * 1000, now);
      return { body: { key, ...toApiKeyBody(record), replaced: toApiKeyBody(replaced, authenticator.lastUse(keyId)) } };
    },

    *revokeKey({ caller, requestId, params: { keyId } }) {
      const found = yield* lockVisibleKey(keyId, caller);
      const calling = yield* callingKey(caller, found?.key.mode);
      if (!calling) return callerEnded;
      if (!found) return notFound;
      const { key } = found;
      const now = clock.now();
      const valid = yield* store.valid(caller.accountId, key.mode, now);
      const remaining = valid.filter((other) => other.id !== key.id && !exceeds(key.expiresAt, other.expiresAt));
      if (isValid(key, now) && isAdmin(key) && !remaining.some(isAdmin)) {
        return failure(
          lastAdminKey,
          `No other ${key.mode} key with the scope admin is valid for as long. Create one first.`,
        );
      }
      yield* store.revoke(found, authorOf(caller, requestId), now);
      return { body: null };
    },
  };
}

/** True if a key can see keys of this mode. A test key cannot see live keys. */
function canSee(caller: Caller, mode: Mode): boolean {
  return caller.mode === "live" || mode === "test";
}

function missingScopes(scopes: ApiKey["scopes"], caller: Caller): ApiKey["scopes"] {
  return scopes.filter((scope) => !caller.scopes.has(scope));
}

function isAdmin({ scopes }: ApiKey): boolean {
  return scopes.includes("admin");
}

/** True if one end or limit is beyond the other. Null means none. */
function exceeds(one: number | null, other: number | null): other is number {
  return other !== null && (one === null || one > other);
}

const callerEnded = failure(
  invalidApiKey,
  "The API key was revoked or has expired while the request was waiting. Nothing was done.",
);

/** Without the identifier: by mistake, it may be a key. */
const notFound = failure(keyNotFound, "No key of the account has this id.");

function notHeld(missing: ApiKey["scopes"]) {
  return failure(scopeNotHeld, `The calling key lacks ${missing.join(" and ")}, which the new key would have.`);
}

/** `longest` is the longest `expiresIn` that is allowed, in seconds. */
function outlives(end: number, longest = 0) {
  const advice = longest < MIN_LIFETIME ? "a key that expires later" : `an expiresIn of at most ${longest}`;
  return failure(
    lifetimeExceedsKey,
    `The new key would expire after the calling key, which expires at ${timestampOf(end)}. Use ${advice}.`,
  );
}

/** Why the calling key cannot give a key this limit, if it cannot. */
function limitRefusal(limit: number | null, calling: ApiKey, { perMinute }: Caller) {
  if (limit !== null && limit > perMinute) {
    const message = `must be at most ${perMinute}, the requests per minute of the plan`;
    return invalidInput([{ path: "/body/limitPerMinute", message }]);
  }
  return exceeds(limit, calling.limitPerMinute) ? aboveOwn(calling.limitPerMinute) : undefined;
}

function aboveOwn(own: number) {
  return failure(
    limitExceedsKey,
    `The calling key may send ${count(own, "request")} a minute. Send a limitPerMinute of at most ${own}.`,
  );
}

function maximumReached(mode: Mode) {
  return failure(tooManyKeys, `The account has ${MAX_KEYS} valid ${mode} keys. Revoke one that you no longer need.`);
}

const tooLittleOverlap = invalidInput([
  { path: "/query/overlap", message: `must be at least ${MIN_OVERLAP} for the calling key` },
]);
