import { domains } from "../../src/app/domains.ts";
import { type ErrorDefinition, invalidRequest } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/operation.ts";

const allOperations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

/**
 * The errors by which an operation may refuse even a valid request, because of what other requests have
 * changed: a name is taken, a resource is deleted. A resource that cannot be deleted must be found.
 */
function refusalsOf(
  { method, path, errors }: Operation,
  operations: readonly Operation[] = allOperations,
): readonly ErrorDefinition[] {
  const canChange =
    method !== "GET" || operations.some((one) => one.method === "DELETE" && `${path}/`.startsWith(`${one.path}/`));
  return canChange ? errors.filter((error) => error !== invalidRequest) : [];
}

/** The statuses that show that an operation accepted a request as valid. `operations` are all that are served. */
export function servedStatuses(operation: Operation, operations?: readonly Operation[]): number[] {
  return [operation.response.status, ...refusalsOf(operation, operations).map(({ status }) => status)];
}

/**
 * What came back, as `201` or `400 invalid_request`, with the success of the operation in place of its
 * refusals: either shows that it accepted the request as valid.
 */
export function asServed(operation: Operation, outcome: string): string {
  const refusals = new Set(refusalsOf(operation).map(({ status, code }) => `${status} ${code}`));
  const each = outcome.split(", ").map((one) => (refusals.has(one) ? String(operation.response.status) : one));
  return each.join(", ");
}
