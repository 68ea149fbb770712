// The texts of a record: what happened, and what to do.
import * as errors from "../../contract/errors.ts";
import type { RequestStage } from "../../contract/request-stages.ts";
import type { StoredRequest } from "./stored-request.ts";

const withSameKey = "Send it again with the same Idempotency-Key: it then takes effect only once.";

/** What to do about errors of the service itself, by their codes. */
const adviceByCode: Readonly<Record<string, string>> = {
  [errors.missingApiKey.code]: "Send the key in the header Authorization: Bearer <API_KEY>.",
  [errors.invalidApiKey.code]:
    "Compare the key with the one that was issued, or use another: it may be revoked or expired.",
  [errors.insufficientScope.code]: "Use a key with the scope that the message names.",
  [errors.accountSuspended.code]: "Ask the operator of the service why, and to resume the account.",
  [errors.pathNotFound.code]:
    "Compare the path with the reference: it begins with the base address, without a slash at its end.",
  [errors.methodNotAllowed.code]: "Use one of the methods that the message names.",
  [errors.operationRemoved.code]: "Use the operation that the message names instead.",
  [errors.invalidRequest.code]: "Correct every field that the details name.",
  [errors.payloadTooLarge.code]: "Send a smaller body, or several requests.",
  [errors.unsupportedMediaType.code]: "Send the body as the message says, without a content encoding.",
  [errors.requestTimeout.code]:
    "Send the whole body at once. A slow connection or a wrong Content-Length is the usual reason.",
  [errors.rateLimitExceeded.code]:
    "Wait for the seconds that Retry-After says before the next request. Requests sent earlier lead to a ban.",
  [errors.keyBanned.code]: "Stop every program that uses the key until the ban ends, and have it obey Retry-After.",
  [errors.idempotencyKeyReused.code]: "Use a new Idempotency-Key for a request that differs.",
  [errors.idempotencyKeyInUse.code]: "Wait for the seconds that Retry-After says, then send the same request again.",
  [errors.preconditionFailed.code]: "Read the resource again, and send its new ETag as If-Match.",
  [errors.sandboxReset.code]: "Send it again, with ids of the new sandbox: the old ones are gone.",
  [errors.overloaded.code]: "Wait for the seconds that Retry-After says, then send it again. It cost no quota.",
  [errors.storageUnavailable.code]: withSameKey,
  [errors.internalError.code]: "Give the id of the request to the operator: the log has the reason.",
};

/** What to do about all other errors, by status. */
const adviceByStatus: Readonly<Record<number, string>> = {
  403: "Use a key that is allowed to do this.",
  404: "Compare the id with a list: the resource was deleted, or belongs to another shop.",
  409: "Read the resource again: its state does not allow this. Change the state first, or leave it.",
  410: "Use what the message names instead.",
};

/** The beginning of an explanation, by the stage that rejected the request. */
const beginnings: Readonly<Record<RequestStage, string>> = {
  load: "The service was overloaded and refused the request before it looked at it.",
  identify: "The request had no valid API key.",
  admit: "A limit rejected the request:",
  resolve: "The path, the method or the key's scope does not fit:",
  simulate: "The request asked for this error with Petstore-Simulate:",
  readInput: "The input is invalid:",
  handle: "The state of the shop does not allow it:",
  openStream: "The stream was not opened:",
};

/** What happened, in words. For a failure: the stage, and the limit, field or state that was the reason. */
export function explain(request: StoredRequest): string {
  const { code, status, facts } = request;
  const { stage, message = "", details } = facts;
  if (code === "" || stage === undefined) return carriedOut(request);
  const faults = (details ?? []).map((fault) => `${fault.path} ${fault.message}`).join("; ");
  if (faults !== "") return `${beginnings.readInput} ${faults}.`;
  if (code === errors.accountSuspended.code && stage === "identify") return message;
  if (stage === "load") return beginnings.load;
  if (stage === "admit") return limitText(request);
  // The service itself failed, unless the error was simulated.
  if (status >= 500 && stage !== "simulate") return `The service failed in the stage ${stage}: ${message}`;
  return `${beginnings[stage]} ${message}`;
}

/** What to do about a failure; undefined for a success. */
export function adviceFor({ code, status }: StoredRequest): string | undefined {
  if (code === "") return undefined;
  return adviceByCode[code] ?? adviceByStatus[status] ?? (status < 500 ? "Do what the message says." : withSameKey);
}

function carriedOut({ operation, status, facts }: StoredRequest): string {
  return facts.isReplay
    ? "The response to an earlier request with the same Idempotency-Key was sent again. Nothing was done again."
    : `${operation || facts.method} was carried out and answered with ${status}.`;
}

function limitText({ code, status, keyId, facts }: StoredRequest): string {
  const { limit = 0, window = "minute", retryAfter = 0, isFree, message = "" } = facts;
  if (status !== errors.rateLimitExceeded.status) return `The service failed in the stage admit: ${message}`;
  if (code === errors.keyBanned.code) {
    return `The key was banned for another ${count(retryAfter, "second")}, because it went on after a 429.`;
  }
  const whose =
    keyId === ""
      ? " of one address without a valid key"
      : `, which all keys of the account share${isFree ? " for operations that cost no quota" : ""},`;
  return `${beginnings.admit} ${count(limit, "request")} a ${window}${whose} are used up for another ${count(retryAfter, "second")}.`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
