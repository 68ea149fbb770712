import type { ListedApiKey } from "petstore-client";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";

/** Prefix of the query keys of responses with API keys. */
export const KEYS = "keys";

/** The length of the end of a key's hint: a mark for what is left out, and four characters. */
const HINT_END = 5;

/** The most keys that one request returns. */
const PAGE_SIZE = 100;

/**
 * All keys of the account, the oldest first. No request is sent if the user may not see them. `isFollowed` is that of
 * `useQuery`: events tell of new keys and ended ones, but not when a key was used.
 */
export function useKeys(isNeeded = true, isFollowed = false): QueryResult<readonly ListedApiKey[]> {
  const { petstore } = useSession();
  const may = useMay();
  const load = async () => {
    const keys: ListedApiKey[] = [];
    for await (const key of petstore.listKeys({ limit: PAGE_SIZE })) keys.push(key);
    return keys;
  };
  return useQuery(isNeeded && may("listKeys") ? `${KEYS}?all` : undefined, load, isFollowed);
}

/** The state of a key. Only a `valid` or `banned` one can be used again. */
export function stateOf({ revokedAt, expiresAt, ban }: ListedApiKey): "valid" | "banned" | "revoked" | "expired" {
  if (revokedAt) return "revoked";
  if (expiresAt && new Date(expiresAt).getTime() <= Date.now()) return "expired";
  return ban ? "banned" : "valid";
}

export const hasEnded = (key: ListedApiKey): boolean => /revoked|expired/.test(stateOf(key));

/** True if the key ends and a newer one has its name, as after a rotation. */
export function isReplaced({ name, mode, createdAt, expiresAt }: ListedApiKey, all: readonly ListedApiKey[]): boolean {
  return (
    expiresAt !== undefined &&
    all.some((other) => other.name === name && other.mode === mode && other.createdAt > createdAt)
  );
}

/** The name of a key, and its last characters if another key has the same name. */
export function labelOf({ name, hint }: ListedApiKey, all: readonly ListedApiKey[]): string {
  return all.filter((other) => other.name === name).length > 1 ? `${name} ${hint.slice(-HINT_END)}` : name;
}

/** The choices of a filter by key. */
export const keyChoices = (keys: readonly ListedApiKey[] = []) =>
  keys.map((key) => [key.id, labelOf(key, keys)] as const);
