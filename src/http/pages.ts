import { methodNotAllowed, pathNotFound } from "../contract/errors.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { FixedContent } from "./fixed-content.ts";
import { noSniff } from "./headers.ts";

interface Representations {
  /** The media type. */
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content that is created for each request because it changes; undefined if there is none at the moment. */
export interface ChangingPage extends Representations {
  readonly content: () => MaybePromise<Content | undefined>;
}

export interface FixedPage extends Representations {
  readonly fixed: FixedContent;
}

/** A folder of pages whose names are unknown until they are created. */
export interface PageFolder {
  /** The page with this name, the last part of the path. */
  readonly named: (name: string) => Promise<FixedPage | undefined>;
}

/** Static content outside the interface: no key, no limits. */
export type Page = ChangingPage | FixedPage | PageFolder;

/** `status` is 200 by default. */
interface Content {
  readonly body: string;
  readonly status?: number;
}

/** Serves a page to GET and HEAD; any other method is refused. */
export async function servePage(page: Page, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const { code, status } = methodNotAllowed;
    const message = `This path does not support ${request.method}. It supports GET, HEAD.`;
    return Response.json({ code, message, status }, { status, headers: { Allow: "GET, HEAD", ...noSniff } });
  }
  if ("named" in page) {
    const found = await page.named(request.url.replace(/[?#].*$/, "").replace(/^.*\//, ""));
    return found ? servePage(found, request) : notFound();
  }
  const headers = { "Content-Type": page.type, ...noSniff, ...page.headers };
  if ("fixed" in page) return page.fixed.respond(request, headers);
  const content = await page.content();
  return content ? new Response(content.body, { status: content.status ?? 200, headers }) : notFound();
}

/** The response for unknown paths outside the interface. */
export function notFound(): Response {
  const { code, status } = pathNotFound;
  return Response.json({ code, message: "There is nothing at this path.", status }, { status, headers: noSniff });
}
