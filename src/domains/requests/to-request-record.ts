import type { ErrorDefinition } from "../../contract/errors.ts";
import { timestampOf } from "../../contract/schemas.ts";
import { adviceFor, explain } from "./explanations.ts";
import type { RequestRecord } from "./requests.operations.ts";
import type { StoredRequest } from "./stored-request.ts";

/** A record as clients see it. The catalogue has the advice of the errors. */
export function toRequestRecord(request: StoredRequest, catalogue: readonly ErrorDefinition[]): RequestRecord {
  const { id, at, keyId, operation, status, code, facts } = request;
  const { method, clientRequestId, path, address, durationMs, limit, remaining, stage, message, details } = facts;
  const advice = adviceFor(request, catalogue);
  return {
    id,
    ...(clientRequestId !== undefined && { clientRequestId }),
    at: timestampOf(at),
    method,
    ...(operation !== "" && { operation }),
    ...(path !== undefined && { path }),
    keyId,
    ...(address !== undefined && { address }),
    status,
    durationMs,
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(code !== "" && { code }),
    ...(stage !== undefined && { stage }),
    ...(message !== undefined && { message }),
    ...(details !== undefined && { details: [...details] }),
    explanation: explain(request),
    ...(advice !== undefined && { advice }),
  };
}
