/**
 * A change that a store refuses to the operator. The message is for the operator. Commands throw `CommandFailed`, which
 * stores do not know.
 */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
  /** Machine-readable, snake_case: `account_not_found`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function noSuchAccount(id: string): OperatorError {
  return new OperatorError("account_not_found", `There is no account ${id}.`);
}
