import { present } from "../../collections/present.ts";
import { banEnd, type KeyBans } from "../../contract/bans.ts";
import type { Mode, Scope } from "../../contract/caller.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { OperatorError } from "../accounts/accounts.ts";
import type { ApiKeyPatch, NewApiKey } from "./keys.operations.ts";
import type { ApiKeyBody, ListedApiKeyBody } from "./keys.schemas.ts";

/** The record of an API key. The key itself is not stored. */
export interface ApiKey extends KeyBans {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly name: string;
  /** The first and last characters of the key, to recognize it. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  /** Requests in a minute, if it has a limit of its own; null if it has none. */
  readonly limitPerMinute: number | null;
  /** Unix milliseconds, as all times of this file. */
  readonly createdAt: number;
  /** The end that it was given when it was made; null for none. */
  readonly plannedEnd: number | null;
  /** Its end: the planned one, or sooner if it was replaced. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A new key: the only moment at which its text is known. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKey;
}

/** The properties of a new key: all that a client can send, with its lifetime as an end. */
export type NewKey = Required<Pick<ApiKey, "accountId" | "plannedEnd" | Exclude<keyof NewApiKey, "expiresIn">>>;
/** Those that a client can change. */
export type KeyPatch = Partial<Pick<NewKey, keyof ApiKeyPatch>>;

/** A new key in place of an old one. */
export interface Rotation extends IssuedKey {
  readonly replaced: ApiKey;
}

/** True for a key that is neither revoked nor expired. */
export function isValid({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

export function noSuchKey(id: string): OperatorError {
  return new OperatorError("key_not_found", `There is no key ${id}.`);
}

/**
 * A key as it is shown: the compiler asks for every field. `lastUse` is a use that is not stored yet, in Unix
 * milliseconds.
 */
export function toApiKeyBody(key: ApiKey, lastUse?: number): ApiKeyBody {
  const { id, name, mode, hint, scopes, createdAt, expiresAt, limitPerMinute, revokedAt } = key;
  const named = { id, name, mode, hint, scopes: [...scopes] };
  return present<Required<ApiKeyBody>>({
    ...named,
    createdAt: timestampOf(createdAt),
    expiresAt: shownTime(expiresAt),
    limitPerMinute,
    revokedAt: shownTime(revokedAt),
    lastUsedAt: shownTime(lastUse ?? key.lastUsedAt),
  });
}

const shownTime = (time: number | null) => (time === null ? null : timestampOf(time));

/** A key in a list. `lastUse` is as in `toApiKeyBody`. */
export function listedKey(key: ApiKey, lastUse: number | undefined, now: number): ListedApiKeyBody {
  return { ...toApiKeyBody(key, lastUse), ...banOf(key, now) };
}

/** The current ban of a key that is valid, as the API shows it. */
export function banOf(key: ApiKey, now: number): Pick<ListedApiKeyBody, "ban"> {
  const end = isValid(key, now) ? banEnd(key, now) : undefined;
  if (end === undefined) return {};
  return { ban: { reason: "It kept sending requests after a 429.", endsAt: timestampOf(end) } };
}
