import { domains } from "../../src/app/domains.ts";
import { type ErrorDefinition, invalidRequest } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/operation.ts";

const allOperations: readonly Operation[] = domains.flatMap((domain) => domain.operations);

/**
 * The errors that even a valid request may get, depending on the state that other requests have left: a name is taken,
 * or a resource is deleted. A GET of a resource that no operation deletes, and whose id a test can know, has none.
 */
function stateDependentErrors(
  { method, path, errors, params }: Operation,
  operations: readonly Operation[] = allOperations,
): readonly ErrorDefinition[] {
  const canChange =
    method !== "GET" ||
    hasRandomId(params) ||
    operations.some((one) => one.method === "DELETE" && `${path}/`.startsWith(`${one.path}/`));
  return canChange ? errors.filter((error) => error !== invalidRequest) : [];
}

/** The statuses that show that an operation accepted a request as valid. `operations` are all that are served. */
export function acceptedStatuses(operation: Operation, operations?: readonly Operation[]): number[] {
  return [operation.response.status, ...stateDependentErrors(operation, operations).map(({ status }) => status)];
}

/**
 * An outcome such as `201` or `400 invalid_request`, or several. Replaces each state-dependent error of the operation
 * with its success status, because both show that it accepted the request as valid.
 */
export function normalizeOutcome(operation: Operation, outcome: string): string {
  const errors = new Set(stateDependentErrors(operation).map(({ status, code }) => `${status} ${code}`));
  const each = outcome.split(", ").map((one) => (errors.has(one) ? String(operation.response.status) : one));
  return each.join(", ");
}

/** True for ids that the service makes at random: no request of a test can name one. */
function hasRandomId(params: Operation["params"]): boolean {
  const { properties = {} } = (params?.schema ?? {}) as { properties?: Record<string, { type?: string }> };
  return Object.values(properties).some(({ type }) => type === "string");
}

/** True if a response shows that an operation accepted a request as valid. */
export function isAccepted(operation: Operation, status: number, code: string | undefined): boolean {
  return normalizeOutcome(operation, code ? `${status} ${code}` : `${status}`) === String(operation.response.status);
}
