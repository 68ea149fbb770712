import {
  type ErrorDefinition,
  type Failure,
  type Fault,
  failure,
  invalidInput,
  invalidRequest,
} from "../../contract/errors.ts";
import { faultsOf } from "../../contract/input-faults.ts";
import type { Operation } from "../../contract/operation.ts";
import { errorsOf } from "../../contract/operation-properties.ts";
import { SIMULATED } from "../../contract/requests.ts";
import { compileValidator } from "../../contract/validators.ts";
import { compileQueryReader } from "../input/read-query.ts";

/** A query parameter that no operation has. */
const UNKNOWN_QUERY = "simulated=1";

/** Every error that an operation can return, by its code, as it would be returned. */
export function simulatedFailures(operation: Operation): ReadonlyMap<string, Failure> {
  return new Map(errorsOf(operation).map((error) => [error.code, simulatedFailure(operation, error)]));
}

function simulatedFailure(operation: Operation, error: ErrorDefinition): Failure {
  if (error === invalidRequest) {
    const { message, ...rest } = invalidInput(simulatedFaults(operation));
    return { ...rest, message: simulated(message) };
  }
  return failure(error, simulated(error.meaning));
}

/** Adds to the message that the error is simulated. */
function simulated(message: string): string {
  return SIMULATED + message;
}

/** The faults of an empty object as the body. If it is valid, or there is no body, the fault of an unknown parameter. */
function simulatedFaults({ body, query }: Operation): readonly Fault[] {
  if (body && !compileValidator(body.schema).Check({}))
    return faultsOf({}, body.schema, "/body", "field of this operation");
  const result = compileQueryReader(query)(UNKNOWN_QUERY);
  if ("faults" in result) return result.faults;
  throw new TypeError("An operation has a query parameter that is kept for simulated faults.");
}
