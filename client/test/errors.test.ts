// Every error that an operation can fail with surfaces as an error of the client: the service is asked for each of them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { errorsOf, pathParameters } from "../../src/contract/operation-properties.ts";
import { TestService } from "../../test/harness/service.ts";
import * as client from "../src/index.ts";

const operations: readonly Operation[] = domains.flatMap((domain) => domain.operations);
const cases = operations.map((operation) => [operation.name, operation] as const);

/** The class of each status that the contract knows. A new status needs a line here. */
const classes: Readonly<Record<number, new (...inputs: never[]) => client.PetstoreError>> = {
  400: client.InvalidRequestError,
  401: client.AuthenticationError,
  403: client.PermissionError,
  404: client.NotFoundError,
  408: client.ServiceError,
  409: client.ConflictError,
  410: client.NotFoundError,
  412: client.ConflictError,
  413: client.InvalidRequestError,
  415: client.InvalidRequestError,
  422: client.InvalidRequestError,
  429: client.RateLimitError,
  500: client.ServiceError,
  503: client.ServiceError,
};

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey("enterprise", undefined, [...scopes]);
});
afterAll(() => service.stop());

/** Calls an operation that the service is told to fail with a code. */
async function errorWith({ name, path, body, query }: Operation, code: string): Promise<client.PetstoreError> {
  const petstore = new client.Petstore({
    key,
    baseUrl: `http://${code.replaceAll("_", "-")}.invalid/v1`, // a separate gate: a limit of one call does not hold up others
    retries: 0,
    timeout: 900, // less than any `Retry-After`, so that no call waits
    onDeprecated() {},
    fetch: (url, init) => {
      const { pathname, search } = new URL(url);
      return fetch(new URL(pathname + search, service.app.base), init);
    },
    onRequest: ({ headers }) => headers.set("Petstore-Simulate", code),
  });
  const inputs = [...pathParameters(path).map(() => "1"), ...(body ? [{}] : []), ...(query ? [{}] : [])];
  const methods = petstore as unknown as Record<
    string,
    (...inputs: unknown[]) => Promise<object> | AsyncIterable<object>
  >;
  const call = methods[name]?.(...inputs) as object;
  const result = Symbol.asyncIterator in call ? (call as AsyncIterable<object>)[Symbol.asyncIterator]().next() : call;
  return (result as Promise<object>).then(
    () => Promise.reject(new Error(`${name} did not fail with ${code}.`)),
    (error) => error,
  );
}

test.each(cases)("each error of %s has its class, code, status and request id", async (_, operation) => {
  const errors = errorsOf(operation);
  expect(errors.length).toBeGreaterThan(5);
  for (const { code, status } of errors) {
    service.clock.advance(3_000); // operations of the sandbox are limited to 20 a minute
    const error = await errorWith(operation, code);
    const { name, operation: called, requestId, advice } = error;
    expect([error.code, error.status, name, called]).toEqual([
      code,
      status,
      classes[status]?.name,
      operation.name,
    ] as never);
    expect([error instanceof (classes[status] as never), typeof requestId]).toEqual([true, "string"]);
    expect(advice).not.toBeEmpty();
    expect(client.isErrorOf(error, operation.name as keyof client.ErrorCodes)).toBe(true);
    expect(error.retryAfter !== undefined).toBe(status === 429 || status === 503 || code === "idempotency_key_in_use");
  }
});
