import { timestampOf } from "../../contract/schemas.ts";
import type { ApiKey } from "./accounts.ts";
import type { ApiKeyBody } from "./keys.operations.ts";

/** A key as it is shown. `lastUse` is a use that is not written down yet, in unix milliseconds. */
export function shownKey(key: ApiKey, lastUse?: number): ApiKeyBody {
  const { id, name, hint, scopes, createdAt, expiresAt, revokedAt } = key;
  const lastUsedAt = lastUse ?? key.lastUsedAt;
  return {
    id,
    name,
    hint,
    scopes: [...scopes],
    createdAt: timestampOf(createdAt),
    ...(expiresAt === null ? {} : { expiresAt: timestampOf(expiresAt) }),
    ...(revokedAt === null ? {} : { revokedAt: timestampOf(revokedAt) }),
    ...(lastUsedAt === null ? {} : { lastUsedAt: timestampOf(lastUsedAt) }),
  };
}
