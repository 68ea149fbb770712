import type { Operation } from "../../src/contract/operation.ts";
import { bodyOf, pathOf } from "../harness/valid-call.ts";

/** A request in parts, each of which a test can put differently. Header parts are whole lines. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly host: readonly string[];
  readonly authorization: readonly string[];
  readonly type: readonly string[];
  readonly framing: readonly string[];
  readonly more: readonly string[];
  readonly body: string;
}

/** A valid request of an operation. `basePath` is the path of the base address. */
export function validRequest(operation: Operation, basePath: string, key: string): RawRequest {
  const body = bytesOf(bodyOf(operation) ?? "");
  return {
    method: operation.method,
    target: basePath + pathOf(operation),
    version: "HTTP/1.1",
    host: ["Host: petstore"],
    authorization: [`Authorization: Bearer ${key}`],
    type: body === "" ? [] : ["Content-Type: application/json"],
    framing: body === "" ? [] : lengthOf(body),
    more: [],
    body,
  };
}

/** The same request with another body, whose length is right. */
export function withBody(request: RawRequest, body: string): RawRequest {
  return { ...request, body, framing: lengthOf(body) };
}

/** The same request with another body, in chunks; `body` is what stands after the headers. */
export function withChunks(request: RawRequest, body: string): RawRequest {
  return { ...request, body, framing: ["Transfer-Encoding: chunked"] };
}

function lengthOf(body: string): string[] {
  return [`Content-Length: ${body.length}`];
}

/** One chunk of a chunked body. */
export function chunk(bytes: string): string {
  return `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
}

/** The UTF-8 bytes of a text, one character each. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** The request's bytes. It asks to close the connection, so that its end is the end of the response. */
export function render(request: RawRequest): string {
  const { method, target, version, host, authorization, type, framing, more, body } = request;
  const line = `${method} ${target} ${version}`;
  return [line, ...host, "Connection: close", ...authorization, ...type, ...framing, ...more, "", body].join("\r\n");
}
