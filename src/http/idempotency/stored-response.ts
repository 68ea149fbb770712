import type { ErrorDefinition, Failure } from "../../contract/errors.ts";
import type { Input, Operation, Success } from "../../contract/operation.ts";
import { makeReady, type ReadyBody, type RememberedSuccess } from "../answer.ts";
import type { CompiledOperation } from "../compiled-operation.ts";

/** An outcome as text: a success ready to be sent, so that it is the same again byte for byte; or a failure. */
interface Kept {
  readonly ready?: ReadyBody;
  readonly failure?: Pick<Failure, "message" | "details" | "retryAfter"> & Pick<ErrorDefinition, "code" | "status">;
}

/** True unless the failure is one that passes: then the same request may succeed later. */
export function isFinal(outcome: Success | Failure): boolean {
  return !("error" in outcome) || (outcome.error.status < 500 && outcome.error.status !== 429);
}

/** Writes an outcome of the operation, to be kept. */
export function writeOutcome(outcome: Success | Failure, compiled: CompiledOperation, input: Input): string {
  if ("error" in outcome) {
    const { error, message, details, retryAfter } = outcome;
    return JSON.stringify({ failure: { code: error.code, status: error.status, message, details, retryAfter } });
  }
  const success: RememberedSuccess = outcome;
  return JSON.stringify({ ready: (success.ready ??= makeReady(compiled, success, input)) });
}

/** Reads an outcome of the operation that was kept. */
export function readOutcome(text: string, { errors }: Operation): Success | Failure {
  const { ready, failure } = JSON.parse(text) as Kept;
  if (!failure) return { body: undefined, ready } as RememberedSuccess;
  const { code, status, message, details, retryAfter } = failure;
  // An earlier release may have given an error that this one no longer has.
  const error = errors.find((one) => one.code === code) ?? { code, status, meaning: "" };
  return { error, message, ...(details && { details }), ...(retryAfter !== undefined && { retryAfter }) };
}
