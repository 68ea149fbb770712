import type { ListedApiKey } from "petstore-client";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";

/** Prefix of the query keys of responses with API keys. */
export const KEYS = "keys";

/** The most keys that one request returns. */
const PAGE = 100;

/** All keys of the account, the oldest first. No request is sent if the user may not see them. */
export function useKeys(isNeeded = true): QueryResult<readonly ListedApiKey[]> {
  const { petstore } = useSession();
  const may = useMay();
  return useQuery(isNeeded && may("listKeys") ? `${KEYS}?all` : undefined, async () => {
    const keys: ListedApiKey[] = [];
    for await (const key of petstore.listKeys({ limit: PAGE })) keys.push(key);
    return keys;
  });
}

/** The state of a key. Only a `valid` or `banned` one can be used again. */
export function stateOf({ revokedAt, expiresAt, ban }: ListedApiKey): "valid" | "banned" | "revoked" | "expired" {
  if (revokedAt) return "revoked";
  if (expiresAt && new Date(expiresAt).getTime() <= Date.now()) return "expired";
  return ban ? "banned" : "valid";
}
