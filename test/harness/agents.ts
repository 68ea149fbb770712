import type { TestService } from "./service.ts";

/* oxlint-disable typescript/no-explicit-any -- a test says what it expects of an answer */

/** The generations of the protocol: clients of the old one open with `initialize`. */
export const generations = ["2026-07-28", "2025-11-25", "2025-06-18"] as const;
export type Generation = (typeof generations)[number];

const envelope = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};

/** What a response holds. */
export async function jsonOf(response: Response): Promise<any> {
  return response.json();
}

/** A request of the protocol: the body, and the headers that describe it. */
export function messageOf(generation: Generation, method: string, params: Record<string, unknown> = {}) {
  const isNew = generation === "2026-07-28";
  return {
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, ...(isNew && envelope) } }),
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": generation,
      ...(isNew && { "Mcp-Method": method }),
      ...(isNew && typeof params["name"] === "string" && { "Mcp-Name": params["name"] }),
    },
  };
}

/** An assistant that speaks the protocol itself, so that it can also speak it wrongly. */
export class Agent {
  readonly #service: TestService;
  readonly #key: string | undefined;
  readonly #generation: Generation;

  constructor(service: TestService, key?: string, generation: Generation = "2026-07-28") {
    this.#service = service;
    this.#key = key;
    this.#generation = generation;
  }

  /** Sends a body, by default with the headers of no particular message. */
  post(body: string | ReadableStream, headers: Record<string, string> = {}, path = "/mcp"): Promise<Response> {
    return fetch(new URL(path, this.#service.app.base), {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
        ...headers,
      },
      body,
    });
  }

  /** Sends a request of the protocol. */
  request(
    method: string,
    params: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const message = messageOf(this.#generation, method, params);
    return this.post(message.body, { ...message.headers, ...headers });
  }

  async tools(): Promise<any[]> {
    return (await jsonOf(await this.request("tools/list"))).result.tools;
  }

  /** Calls a tool, and returns its result with the headers of the response. */
  async call(name: string, given: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
    const response = await this.request("tools/call", { name, arguments: given }, headers);
    const { result } = await jsonOf(response);
    return { ...result, headers: response.headers };
  }

  /** Calls a tool, and returns the content of the result. Fails if the result is an error. */
  async content(name: string, given: Record<string, unknown> = {}): Promise<any> {
    const { structuredContent, isError } = await this.call(name, given);
    if (isError) throw new Error(JSON.stringify(structuredContent));
    return structuredContent;
  }
}
