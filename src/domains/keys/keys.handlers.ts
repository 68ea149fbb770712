import { scopes as allScopes, type Caller, type Mode } from "../../contract/caller.ts";
import { failure, invalidApiKey, invalidRequest } from "../../contract/errors.ts";
import type { Handlers } from "../../contract/handler.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { Clock } from "../../timing/clock.ts";
import { authorOf } from "../events/author.ts";
import type { KeyAuthenticator } from "./authenticator.ts";
import type { ReadBanEnds } from "./ban-ends.ts";
import {
  keyEnded,
  keyNotFound,
  type keyOperations,
  lastAdminKey,
  lifetimeExceedsKey,
  MAX_KEYS,
  MIN_LIFETIME,
  modeNotHeld,
  scopeNotHeld,
  tooManyKeys,
} from "./keys.operations.ts";
import type { KeyStore } from "./keys.store.ts";
import { type ApiKey, isValid } from "./keys.ts";
import { listedKey, toApiKeyBody } from "./to-api-key-body.ts";

/** The minimum number of seconds that a key stays valid after it replaces itself, so that the request can be repeated. */
const MIN_OVERLAP = 60;

export function keyHandlers(
  store: KeyStore,
  authenticator: KeyAuthenticator,
  readBanEnds: ReadBanEnds,
  clock: Clock,
): Handlers<typeof keyOperations> {
  /**
   * The start of a transaction: locks the keys of the caller's mode, and returns the calling key if it is still valid. It
   * may have been revoked since the request began, because a client can send the body of a request later than its headers.
   * The keys of another mode are locked afterwards: only live keys change those, so the order is that of `modes`.
   */
  function* callingKey({ accountId, mode, keyId }: Caller) {
    yield* store.lock(accountId, mode, clock.now());
    const key = yield* store.find(keyId);
    return key && isValid(key, clock.now()) ? key : undefined;
  }

  /**
   * Part of a transaction, after `callingKey`: a key of the caller's account that the caller can see. For a test key, all
   * such keys are locked. Locking the live keys now would be the wrong order.
   */
  function* ownKey(keyId: string, caller: Caller) {
    const isLocked = caller.mode === "test";
    const key = yield* isLocked ? store.find(keyId) : store.lockAndFind(caller.accountId, keyId, clock.now());
    return key?.accountId === caller.accountId && canSee(caller, key.mode) ? key : undefined;
  }

  return {
    listKeys: async ({ caller, query: { limit, mode }, after }) => {
      if (mode && !canSee(caller, mode)) return { items: [] };
      const wanted = caller.mode === "test" ? "test" : mode;
      const { items: keys, next } = await store.page(caller.accountId, wanted, after, limit);
      const valid = keys.filter((key) => isValid(key, clock.now()));
      const banEnds = await readBanEnds(valid, caller);
      const items = keys.map((key) => listedKey(key, authenticator.lastUse(key.id), banEnds.get(key.id)));
      return { items, ...(next === undefined ? {} : { next }) };
    },

    *createKey({ caller, requestId, body: { name, scopes: wanted, mode = caller.mode, expiresIn } }) {
      const scopes = allScopes.filter((scope) => wanted.includes(scope));
      const missing = missingScopes(scopes, caller);
      if (missing.length > 0) return notHeld(missing);
      if (!canSee(caller, mode)) return failure(modeNotHeld, "A test key can create test keys only.");
      const calling = yield* callingKey(caller);
      if (!calling) return callerEnded;
      yield* store.lock(caller.accountId, mode, clock.now());
      const now = clock.now();
      const plannedEnd = expiresIn === undefined ? null : now + expiresIn * 1000;
      const end = calling.expiresAt;
      if (endsAfter(plannedEnd, end)) return outlives(end, Math.floor((end - now) / 1000));
      if ((yield* store.valid(caller.accountId, mode, now)).length >= MAX_KEYS) return maximumReached(mode);
      const { key, record } = yield* store.issue(
        authorOf(caller, requestId),
        caller.accountId,
        { mode, name, scopes, plannedEnd },
        now,
      );
      return { body: { key, ...toApiKeyBody(record) } };
    },

    *rotateKey({ caller, requestId, params: { keyId }, query: { overlap } }) {
      const calling = yield* callingKey(caller);
      if (!calling) return callerEnded;
      const old = yield* ownKey(keyId, caller);
      if (!old) return notFound;
      const now = clock.now();
      if (!isValid(old, now)) return failure(keyEnded, `The key ${keyId} is no longer valid. Create another one.`);
      const missing = missingScopes(old.scopes, caller);
      if (missing.length > 0) return notHeld(missing);
      if (endsAfter(old.plannedEnd, calling.expiresAt)) return outlives(calling.expiresAt);
      if (keyId === caller.keyId && overlap < MIN_OVERLAP) return tooLittleOverlap;
      // With an overlap, both keys are valid for a while.
      if (overlap > 0 && (yield* store.valid(caller.accountId, old.mode, now)).length >= MAX_KEYS)
        return maximumReached(old.mode);
      const { key, record, replaced } = yield* store.rotate(authorOf(caller, requestId), old, overlap * 1000, now);
      return { body: { key, ...toApiKeyBody(record), replaced: toApiKeyBody(replaced, authenticator.lastUse(keyId)) } };
    },

    *revokeKey({ caller, requestId, params: { keyId } }) {
      if (!(yield* callingKey(caller))) return callerEnded;
      const key = yield* ownKey(keyId, caller);
      if (!key) return notFound;
      const now = clock.now();
      const valid = yield* store.valid(caller.accountId, key.mode, now);
      if (isValid(key, now) && isAdmin(key) && !valid.some((other) => isAdmin(other) && lastsAsLong(other, key))) {
        return failure(
          lastAdminKey,
          `No other ${key.mode} key with the scope admin is valid for as long. Create one first.`,
        );
      }
      yield* store.revoke(authorOf(caller, requestId), keyId, now);
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

/** True if another key stays valid at least as long. */
function lastsAsLong(other: ApiKey, key: ApiKey): boolean {
  return other.id !== key.id && !endsAfter(key.expiresAt, other.expiresAt);
}

/** True if one time is after the other, in Unix milliseconds. Null means never. */
function endsAfter(one: number | null, other: number | null): other is number {
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

function maximumReached(mode: Mode) {
  return failure(tooManyKeys, `The account has ${MAX_KEYS} valid ${mode} keys. Revoke one that you no longer need.`);
}

const overlapFault = { path: "/query/overlap", message: `must be at least ${MIN_OVERLAP} for the calling key` };
const tooLittleOverlap = failure(
  invalidRequest,
  `The request is invalid: ${overlapFault.path} ${overlapFault.message}.`,
  { details: [overlapFault] },
);
