import { present } from "../../collections/present.ts";
import * as errors from "../../contract/errors.ts";
import { count, sentence } from "../../contract/messages.ts";
import { DISCONNECT, type RequestStage, SIMULATED } from "../../contract/requests.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { RequestRecord } from "./requests.operations.ts";
import type { StoredRequest } from "./stored-request.ts";

/** A record as clients see it: with what happened in words, and what to do. The catalogue has the advice of the errors. */
export function toRequestRecord(request: StoredRequest, catalogue: readonly errors.ErrorDefinition[]): RequestRecord {
  const { id, at, keyId, operation, status, code, facts } = request;
  const { method, clientRequestId, path, address, durationMs, limit, remaining, stage, message, details } = facts;
  const shown = { id, clientRequestId, method, path, keyId, address, status, durationMs, limit, remaining, stage };
  return present<RequestRecord>({
    ...shown,
    message,
    at: timestampOf(at),
    operation: operation || undefined,
    code: code || undefined,
    details: details && [...details],
    explanation: explain(request),
    advice: adviceFor(request, catalogue),
  });
}

/** The beginning of an explanation, by the stage that rejected the request. */
const beginnings: Readonly<Record<RequestStage, string>> = {
  shedLoad: "The service was overloaded and rejected the request before doing anything.",
  identify: "The request had no valid API key.",
  admit: "A limit rejected the request:",
  resolve: "No operation that the key may call has this path and method:",
  simulate: "The request asked for this error with Petstore-Simulate:",
  readInput: "The input is invalid:",
  handle: "The operation refused the request:",
  openStream: "The stream was not opened:",
};

/** What happened, in words. For a failure: the stage, and the limit, field or state that was the reason. */
export function explain(request: StoredRequest): string {
  const { code, status, facts } = request;
  const { stage, message = "", details } = facts;
  if (code === "" || stage === undefined) return describeSuccess(request); // a failure always has a stage
  const faults = (details ?? []).map((fault) => `${fault.path} ${fault.message}`).join("; ");
  if (faults !== "" && !message.startsWith(SIMULATED)) return sentence(`${beginnings.readInput} ${faults}`);
  if (code === errors.accountSuspended.code && stage === "identify") return message;
  if (stage === "shedLoad") return beginnings.shedLoad;
  if (stage === "admit") return limitText(request);
  if (code === DISCONNECT) return "The request asked for a closed connection with Petstore-Simulate.";
  // The service itself failed, unless the error was simulated.
  if (status >= 500 && stage !== "simulate") return `The service failed in the stage ${stage}: ${message}`;
  return `${beginnings[stage]} ${message}`;
}

/** What to do about a failure; undefined for a success. */
function adviceFor({ code, status }: StoredRequest, catalogue: readonly errors.ErrorDefinition[]): string | undefined {
  if (code === "") return undefined;
  if (code === DISCONNECT) return errors.sendAgain;
  return errors.adviceOf(catalogue.find((one) => one.code === code) ?? { status });
}

function describeSuccess({ operation, status, facts }: StoredRequest): string {
  return facts.isReplay
    ? "The stored response to an earlier request with the same Idempotency-Key was sent again. Nothing was changed."
    : `${operation || facts.method} succeeded with status ${status}.`;
}

function limitText({ code, status, keyId, facts }: StoredRequest): string {
  const { limit = 0, window = "minute", retryAfter = 0, isFree, message = "" } = facts;
  if (status !== errors.rateLimitExceeded.status) return `The service failed in the stage admit: ${message}`;
  if (code === errors.keyBanned.code) {
    return `The key was banned for another ${count(retryAfter, "second")}, because it kept sending requests after a 429.`;
  }
  const whose =
    window === "key"
      ? "the key"
      : keyId === ""
        ? "one address without a valid key"
        : `all keys of the shop together${isFree ? ", for operations that cost no quota" : ""}`;
  return `${beginnings.admit} ${count(limit, "request")} per ${window === "day" ? "day" : "minute"} for ${whose}. Try again in ${count(retryAfter, "second")}.`;
}
