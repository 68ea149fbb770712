import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { ShopNumber } from "../contract/caller.ts";
import { adviceOf, type ErrorBody, invalidApiKey } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { errorCatalogue } from "../contract/operation-properties.ts";
import { agentInstructions, type DerivedTool, deriveAgentTools, type ToolCall } from "../derive/agent-tools.ts";
import type { BodyResult } from "../http/input/read-body.ts";
import { noSniff } from "../http/response/headers.ts";
import type { Unread } from "../http/response/response.ts";
import { noResponse } from "../http/simulation/read-simulation.ts";
import { version } from "../telemetry/version.ts";
import { turns } from "../timing/turns.ts";

/** The revisions of the protocol that are tested. */
const supportedProtocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18"];
const options = { capabilities: { tools: {} }, instructions: agentInstructions, supportedProtocolVersions };
/** The headers of a request's response that the answer to its message has too. */
const passedOn = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"];

/** Sends a request of an operation through the stages, as if the client of the message had sent it. */
export type Ask = (operation: Operation, call?: ToolCall) => Promise<Response>;
/** Answers a message. */
export type AnswerMessage = ReturnType<typeof answerWith>;

/** What a client can do about an error, by its code. */
type Advice = ReadonlyMap<string, string>;
type Inputs = Parameters<DerivedTool["toCall"]>[0];
type Key = { readonly scopes: readonly string[]; readonly mode: string };
type ReadMessage = Exclude<BodyResult, { readonly error: unknown }>;

/**
 * Prepares the answers with the tools of these operations. Each message is one request: a call is that of its operation,
 * and any other is `getCurrentKey`, which says what the key may do and does not count in the windows of the shop.
 */
export function answerWith(operations: readonly Operation[], unread: Unread) {
  const tools = deriveAgentTools(operations);
  const advice = new Map(errorCatalogue(operations).map((error) => [error.code, adviceOf(error)]));
  const currentKey = operations.find(({ name }) => name === "getCurrentKey") as Operation;

  return async (request: Request, read: ReadMessage, send: Ask, shop: ShopNumber): Promise<Response> => {
    let since = performance.now();
    /** The shop pays for the time before and after each request, which pays for its own. */
    const ask: Ask = async (operation, call) => {
      turns.charge(shop, since);
      const response = await send(operation, call);
      since = performance.now();
      return response;
    };
    const message = "value" in read ? read.value : undefined;
    const isCall = (message as { readonly method?: unknown } | null | undefined)?.method === "tools/call";
    const key = isCall ? undefined : await ask(currentKey);
    if (key && !key.ok) return key;
    const calls: Response[] = [];

    const server = new Server({ name: "petstore", version }, options);
    server.setRequestHandler("tools/list", async () => {
      const { scopes, mode } = (await (key as Response).json()) as Key;
      const isOffered = ({ operation }: DerivedTool) =>
        operation.scopes.every((scope) => scopes.includes(scope)) &&
        (operation.separateQuota !== "sandbox" || mode === "test");
      return { tools: [...tools.values()].filter(isOffered).map(({ definition }) => definition) };
    });
    server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }) => {
      const tool = tools.get(name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
      const response = await ask(tool.operation, tool.toCall(given));
      calls.push(response);
      if (isForClient(response)) return { content: [] };
      const body = await response.text();
      return turns.run(shop, () => {
        const structuredContent = resultOf(response, body, tool, given, advice);
        const text = JSON.stringify(structuredContent);
        return { content: [{ type: "text" as const, text }], structuredContent, isError: !response.ok };
      });
    });

    const { status, text } = await answerIn(server, request, read);
    const asked = key ?? calls[0] ?? (await ask(currentKey)); // the last for a call that the protocol refuses
    turns.charge(shop, since);
    if (asked === calls[0] ? isForClient(asked) : !asked.ok) return asked;
    const headers = new Headers(noSniff);
    for (const name of passedOn) headers.set(name, asked.headers.get(name) ?? "");
    if (text === "") return new Response(null, { status, headers });
    headers.set("Content-Type", "application/json");
    return unread.response(text, shop, { status, headers });
  };
}

/** True for a response that the client of the message gets itself: its key was revoked, or it simulates a disconnect. */
function isForClient({ status }: Response): boolean {
  return status === invalidApiKey.status || status === noResponse.status;
}

/** The answer in the revision of the message: a status, and JSON or an empty text. */
async function answerIn(server: Server, request: Request, read: ReadMessage) {
  if ("faults" in read) return refusal(400, ProtocolErrorCode.ParseError, `The body ${read.faults[0]?.message}.`);
  if (Array.isArray(read.value)) return refusal(400, ProtocolErrorCode.InvalidRequest, "Send one message at a time.");
  const message = { parsedBody: read.value };
  let answer: Response;
  if (await isLegacyRequest(request, message.parsedBody)) {
    // Without sessions. In revisions with `initialize`, the library would by default send a stream of one event.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    answer = await transport.handleRequest(request, message);
  } else answer = await createMcpHandler(() => server, { legacy: "reject" }).fetch(request, message);
  // Only `subscriptions/listen` is answered with events, although there are none.
  if (answer.headers.get("content-type") === "text/event-stream") {
    const { id } = read.value as { readonly id: unknown };
    return refusal(404, ProtocolErrorCode.MethodNotFound, "There is nothing to subscribe to.", id);
  }
  return { status: answer.status, text: await answer.text() };
}

function refusal(status: number, code: number, message: string, id: unknown = null) {
  return { status, text: JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }) };
}

/** What a model gets for the response to its call: the result, or the error. */
function resultOf({ ok, headers }: Response, body: string, tool: DerivedTool, given: Inputs, advice: Advice) {
  if (ok) {
    const [, cursor] = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.get("link") ?? "") ?? [];
    return tool.toResult(body, cursor && decodeURIComponent(cursor));
  }
  const error = JSON.parse(body) as ErrorBody;
  const retryAfter = Number(headers.get("retry-after")) || undefined;
  const requestId = headers.get("x-request-id");
  return { ...tool.toError(given, error, advice.get(error.code), retryAfter), requestId };
}
