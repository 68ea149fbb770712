import { type ErrorDefinition, methodNotAllowed, pathNotFound } from "../../contract/errors.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import type { PathAdvice } from "../input/path-advice.ts";
import type { FixedContent } from "./fixed-content.ts";
import { noSniff } from "./headers.ts";
import { bodyOf } from "./response.ts";

interface ContentHeaders {
  /** The media type. */
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content that is created for each request because it changes. */
export interface DynamicContent extends ContentHeaders {
  /** `status` is 200 by default. */
  readonly content: () => MaybePromise<{ readonly body: string; readonly status?: number }>;
}

export interface StaticFile extends ContentHeaders {
  readonly fixed: FixedContent;
}

/** A folder of files whose names are unknown until they are created. */
export interface ContentFolder {
  /** The file with this name, the last part of the path. */
  readonly named: (name: string) => Promise<StaticFile | undefined>;
}

/** Content outside the API, such as documents, the console and metrics: no key, no limits. */
export type WebContent = DynamicContent | StaticFile | ContentFolder;

/** Serves content to GET and HEAD; any other method is refused. */
export async function serveContent(
  from: WebContent,
  request: Request,
  paths: Pick<PathAdvice, "ofUnknown">,
): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const message = `This path does not support ${request.method}. It supports GET, HEAD.`;
    return plainError(methodNotAllowed, message, { Allow: "GET, HEAD" });
  }
  if ("named" in from) {
    const found = await from.named(request.url.replace(/[?#].*$/, "").replace(/^.*\//, ""));
    return found ? serveContent(found, request, paths) : notFound(paths.ofUnknown(request));
  }
  const headers = { "Content-Type": from.type, ...noSniff, ...from.headers };
  if ("fixed" in from) return from.fixed.respond(request, headers);
  const { body, status = 200 } = await from.content();
  return new Response(bodyOf(body), { status, headers });
}

/** The response for unknown paths outside the API. */
export function notFound(message: string): Response {
  return plainError(pathNotFound, message);
}

/** An error outside the API: with the Error body, without the headers of API responses. */
export function plainError({ code, status }: ErrorDefinition, message: string, headers = {}): Response {
  return Response.json({ code, message, status }, { status, headers: { ...headers, ...noSniff } });
}
