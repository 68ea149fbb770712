import { timestampOf } from "../../contract/schemas.ts";
import type { ApiKeyBody, ListedApiKeyBody } from "./keys.schemas.ts";
import type { ApiKey } from "./keys.ts";

/** A key as it is shown. `lastUse` is a use that is not stored yet, in Unix milliseconds. */
export function toApiKeyBody(key: ApiKey, lastUse?: number): ApiKeyBody {
  const { id, name, mode, hint, scopes, createdAt, expiresAt, revokedAt } = key;
  const lastUsedAt = lastUse ?? key.lastUsedAt;
  return {
    id,
    name,
    mode,
    hint,
    scopes: [...scopes],
    createdAt: timestampOf(createdAt),
    ...(expiresAt === null ? {} : { expiresAt: timestampOf(expiresAt) }),
    ...(revokedAt === null ? {} : { revokedAt: timestampOf(revokedAt) }),
    ...(lastUsedAt === null ? {} : { lastUsedAt: timestampOf(lastUsedAt) }),
  };
}

/** A key in a list. `lastUse` and `banEnds` are as in `toApiKeyBody` and `banOf`. */
export function listedKey(key: ApiKey, lastUse: number | undefined, banEnds: number | undefined): ListedApiKeyBody {
  return { ...toApiKeyBody(key, lastUse), ...banOf(banEnds) };
}

/** The ban of a key, as the API shows it. `banEnds` is in Unix seconds; undefined for a key that is not banned. */
export function banOf(banEnds: number | undefined): Pick<ListedApiKeyBody, "ban"> {
  if (banEnds === undefined) return {};
  return { ban: { reason: "It kept sending requests after a 429.", endsAt: timestampOf(banEnds * 1000) } };
}
