import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { scopes } from "../../src/contract/caller.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { SIMULATE } from "../../src/contract/requests.ts";
import { exchange } from "../harness/raw-http.ts";
import type { TestService } from "../harness/service.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";

/* oxlint-disable typescript/no-explicit-any -- the document is what the service makes it */

/** In milliseconds. */
const MINUTE = 60_000;

/**
 * Asks each operation for every error that the document promises, and checks the response against the document: so
 * a client has seen each of them. They are served by what `start` starts, which is stopped after the tests.
 */
export function simulatedErrors(operations: readonly Operation[], start: () => Promise<TestService>): void {
  let service: TestService;
  let key: string;
  let document: any;

  beforeAll(async () => {
    service = await start();
    key = await service.newKey("enterprise", undefined, [...scopes]);
    document = await (await fetch(new URL("/openapi.json", service.app.base))).json();
  });
  afterEach(() => service.clock.advance(MINUTE)); // few requests a minute may be sent for sandboxes
  afterAll(() => service.stop());

  /** The codes that the document promises for the operation, with their statuses. */
  function promised({ path, method }: Operation): (readonly [code: string, status: number])[] {
    const resolve = (part: any): any =>
      part.$ref
        ? part.$ref
            .split("/")
            .slice(1)
            .reduce((node: any, name: string) => node[name], document)
        : part;
    const { responses } = document.paths[path][method.toLowerCase()];
    return Object.entries(responses).flatMap(([status, response]) => {
      if (Number(status) < 400) return [];
      const { allOf } = resolve(resolve(response).content["application/json"].schema);
      const codes: string[] = allOf.flatMap((part: any) => part.properties?.code.enum ?? []);
      return codes.map((code) => [code, Number(status)] as const);
    });
  }

  function ask(operation: Operation, asked: string, method: string = operation.method) {
    const body = bodyOf(operation);
    const headers = { [SIMULATE]: asked, "Idempotency-Key": "simulated" };
    return service.call(method, pathOf(operation), { key, headers, ...(body === undefined ? {} : { body }) });
  }

  /** Everything that can be read without an id, except when keys were last used and when windows end, which these requests change themselves. */
  async function everything(): Promise<string[]> {
    const reads = operations.filter(
      ({ method, path, separateQuota }) => method === "GET" && !path.includes("{") && !separateQuota,
    );
    const texts = reads.map(async (read) => (await service.call("GET", pathOf(read), { key })).text);
    return (await Promise.all(texts)).map((text) => text.replaceAll(/"(lastUsedAt|next)":"[^"]*"/g, ""));
  }

  describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_name, operation) => {
    test("returns each declared error if a test key asks for it, and does nothing", async () => {
      const before = await everything();
      const expected = promised(operation);
      expect(expected.length).toBeGreaterThan(5);
      const seen: unknown[] = [];
      for (const [code, status] of expected) {
        if (operation.separateQuota === "sandbox") service.clock.advance(60_000); // an account may send 20 a minute
        const response = await ask(operation, code); // which checks body and headers against the document
        seen.push([response.json.code, response.status]);
        expect([code, response.json.status]).toEqual([code, status]);
        expect(response.json.message).toStartWith("Simulated: ");
        expect([code, response.json.details !== undefined]).toEqual([code, code === "invalid_request"]);
        expect(response.headers.get("idempotent-replayed")).toBeNull();
        if (operation.method !== "GET") continue;
        const head = await ask(operation, code, "HEAD");
        expect([head.status, head.text]).toEqual([status, ""]);
      }
      expect(seen).toEqual(expected);
      expect(await everything()).toEqual(before);
    });

    test("closes the connection without a response, if it is asked to", async () => {
      const target = new URL(service.app.base).pathname + pathOf(operation);
      const body = bodyOf(operation) ?? "{}";
      const lines = [
        `${operation.method} ${target} HTTP/1.1`,
        "Host: petstore",
        `Authorization: Bearer ${key}`,
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
        `${SIMULATE}: disconnect`,
      ];
      const before = await everything();
      expect(await exchange(service.app.port, `${lines.join("\r\n")}\r\n\r\n${body}`)).toEqual([]);
      expect(await everything()).toEqual(before);
    });
  });
}
