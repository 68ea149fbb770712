import { shopNumber } from "../../contract/caller.ts";
import { separateQuotaOf } from "../../contract/operation-properties.ts";
import type { CompletedRequest } from "../../http/interfaces.ts";

/** The shop number under which records of requests without the key of a shop are stored. No shop has it. */
export const NO_SHOP = shopNumber(0);

/** A record as it is stored. An empty text means that there is no value. */
export type StoredRequest = ReturnType<typeof toStoredRequest>;

/** The record of a request that was answered at this time, in Unix milliseconds. */
export function toStoredRequest(request: CompletedRequest, at: number) {
  const { id, clientRequestId, caller, address, method, operation, path, status } = request;
  const { failed, stage, admission, isReplay, duration } = request;
  const key = caller ?? failed?.key;
  return {
    shop: key?.shop ?? NO_SHOP,
    id,
    at,
    keyId: key?.keyId ?? "",
    operation: operation?.name ?? "",
    status,
    code: failed?.error.code ?? "",
    // What no query filters by. Absent fields take no space.
    facts: {
      method,
      clientRequestId,
      path,
      address,
      durationMs: Math.round(duration * 1000) / 1000,
      limit: admission?.limit,
      remaining: admission?.remaining,
      // What rejected the request, and `Retry-After`.
      window: admission?.window,
      retryAfter: failed?.retryAfter,
      stage,
      message: failed?.message,
      details: failed?.details,
      isReplay: isReplay || undefined,
      // The operation cost its caller no quota.
      isFree: caller && separateQuotaOf(operation, caller) ? true : undefined,
    },
  };
}

/** The values of the columns, in the order of the statement that inserts them. */
export function valuesOf({ shop, id, at, keyId, operation, status, code, facts }: StoredRequest) {
  return [shop, id, at, keyId, operation, status, code, JSON.stringify(facts)] as const;
}
