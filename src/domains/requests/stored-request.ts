import type { Fault } from "../../contract/errors.ts";
import { separateQuotaOf } from "../../contract/operation-properties.ts";
import type { RequestStage } from "../../contract/requests.ts";
import type { CompletedRequest, WindowName } from "../../http/interfaces.ts";

/** The shop number under which records of requests without the key of a shop are stored. No shop has it. */
export const NO_SHOP = 0;

/** The parts of a record that no query filters by. Absent fields take no space. */
interface Facts {
  readonly method: string;
  readonly clientRequestId?: string | undefined;
  readonly path?: string | undefined;
  readonly address?: string | undefined;
  readonly durationMs: number;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
  /** The window that rejected the request. */
  readonly window?: WindowName | undefined;
  /** `Retry-After` in seconds. */
  readonly retryAfter?: number | undefined;
  readonly stage?: RequestStage | undefined;
  readonly message?: string | undefined;
  readonly details?: readonly Fault[] | undefined;
  readonly isReplay?: true | undefined;
  /** True if the operation cost its caller no quota. */
  readonly isFree?: true | undefined;
}

/** A record as it is stored. An empty text means that there is no value. */
export interface StoredRequest {
  readonly shop: number;
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly keyId: string;
  readonly operation: string;
  readonly status: number;
  readonly code: string;
  readonly facts: Facts;
}

/** The record of a request that was answered at this time, in Unix milliseconds. */
export function toStoredRequest(request: CompletedRequest, at: number): StoredRequest {
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
    facts: {
      method,
      clientRequestId,
      path,
      address,
      durationMs: Math.round(duration * 1000) / 1000,
      limit: admission?.limit,
      remaining: admission?.remaining,
      window: admission?.window,
      retryAfter: failed?.retryAfter,
      stage,
      message: failed?.message,
      details: failed?.details,
      isReplay: isReplay || undefined,
      isFree: caller && separateQuotaOf(operation, caller) ? true : undefined,
    },
  };
}

/** The values of the columns, in the order of the statement that inserts them. */
export function valuesOf({ shop, id, at, keyId, operation, status, code, facts }: StoredRequest) {
  return [shop, id, at, keyId, operation, status, code, JSON.stringify(facts)] as const;
}
