import { setTimeout as pause } from "node:timers/promises";
import { readLines } from "../files/lines.ts";
import { clientVariables } from "../settings/client-variables.ts";
import { type Command, CommandFailed } from "../terminal/command.ts";
import { plain } from "../terminal/output.ts";

/** The longest time that a message waits for a limit, in milliseconds: clients give up after 60 seconds. */
const MAX_WAIT = 50_000;

/** What is read of a message, and of an answer. One that is not of the protocol is an Error of the service. */
type Message = { readonly id?: unknown; readonly method?: string; readonly params?: Params };
type Params = { readonly name?: string; readonly _meta?: Readonly<Record<string, string>> };
type Answer = { readonly jsonrpc?: string; readonly message?: string; readonly result?: Result };
type Result = { readonly protocolVersion?: string; readonly structuredContent?: object };

/** Passes the messages of an assistant on this machine to a service. */
export const mcpCommand: Command = {
  name: "mcp",
  summary: "Connect an assistant that starts a program to a service (Model Context Protocol, stdio).",
  example: "mcp",
  variables: clientVariables,
  run: async (_given, { settings, stop, input, output }) => {
    const { PETSTORE_KEY: key, PETSTORE_URL: base } = settings(clientVariables);
    if (key === undefined) throw new CommandFailed("key_missing", "Set PETSTORE_KEY to an API key.");
    const pass = bridgeTo(base.replace(/\/v1$/, "/mcp"), key, stop);
    try {
      for await (const { bytes } of readLines(input())) {
        for (const line of Buffer.from(bytes).toString().split("\n").filter(Boolean)) {
          const answer = await pass(line);
          // Readers in JavaScript or Python end a line at other characters too, which JSON can have as escapes.
          if (answer) await output(`${plain(JSON.stringify(answer))}\n`);
        }
      }
    } catch (error) {
      if (!stop.aborted) throw error;
    }
    return { json: undefined, text: "" };
  },
};

/** Returns a function that sends a line to a service, and returns the answer if there is one. */
function bridgeTo(url: string, key: string, signal: AbortSignal) {
  let agreed: string | undefined;
  /** The last answer that said to wait, and until when, by the monotonic clock. */
  let limited = { answer: {} as Answer, until: 0 };

  const send = async (line: string, { method, params = {} }: Message): Promise<Answer | undefined> => {
    const { name, _meta: meta } = params;
    const revision = meta?.["io.modelcontextprotocol/protocolVersion"] ?? agreed;
    const headers = {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(revision && { "MCP-Protocol-Version": revision }),
      ...(method && { "Mcp-Method": method }),
      ...(name && { "Mcp-Name": name }),
    };
    const response = await fetch(url, { method: "POST", headers, body: line, signal });
    if (response.status === 202) return undefined;
    const answer = (await response.json()) as Answer;
    agreed = answer.result?.protocolVersion ?? agreed;
    const ofHttp = { status: response.status, retryAfter: response.headers.get("retry-after") };
    const { status, retryAfter } = { ...ofHttp, ...answer.result?.structuredContent };
    if (status === 429) limited = { answer, until: performance.now() + Number(retryAfter) * 1_000 };
    return answer;
  };

  return async (line: string): Promise<object | undefined> => {
    const message: Message = await Promise.try(() => JSON.parse(line) ?? {}).catch(() => ({})); // the service refuses it
    for (;;) {
      const wait = limited.until - performance.now();
      if (wait > MAX_WAIT) return withId(limited.answer, message);
      if (wait > 0) await pause(wait, undefined, { signal });
      const answer = await send(line, message).catch((error: Error) => {
        return { message: `The service at ${url} cannot be reached: ${error.message}` };
      });
      if (!answer || answer !== limited.answer) return answer && withId(answer, message);
    }
  };
}

/** The answer to a message. An Error becomes one of the protocol; a message without an id gets none. */
function withId(answer: Answer, { id }: Message): object | undefined {
  if (answer.jsonrpc) return { ...answer, id: id ?? null };
  return id === undefined ? undefined : { jsonrpc: "2.0", id, error: { code: -32_000, message: answer.message } };
}
