import { OperatorError } from "../accounts/operator-error.ts";

export function noSuchKey(id: string): OperatorError {
  return new OperatorError("key_not_found", `There is no key ${id}.`);
}
