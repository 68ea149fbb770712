import { methodNotAllowed, pathNotFound } from "../contract/errors.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { FixedContent } from "./fixed-content.ts";
import { noSniff } from "./headers.ts";

interface Representations {
  /** The media type. */
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content that is made for each request, because it changes; undefined where there is none at the moment. */
export interface ChangingPage extends Representations {
  readonly content: () => MaybePromise<Content | undefined>;
}

export interface FixedPage extends Representations {
  readonly fixed: FixedContent;
}

/** Something that is served as it is, outside the interface: no key, no limits. */
export type Page = ChangingPage | FixedPage;

/** The status is 200 where it is not said. */
interface Content {
  readonly body: string;
  readonly status?: number;
}

/** Serves a page to GET and HEAD; any other method is refused. */
export async function servePage(page: Page, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const { code, status } = methodNotAllowed;
    const message = `This path has no method ${request.method}; it has GET, HEAD.`;
    return Response.json({ code, message, status }, { status, headers: { Allow: "GET, HEAD", ...noSniff } });
  }
  const headers = { "Content-Type": page.type, ...noSniff, ...page.headers };
  if ("fixed" in page) return page.fixed.respond(request, headers);
  const content = await page.content();
  return content ? new Response(content.body, { status: content.status ?? 200, headers }) : notFound();
}

/** The answer at paths outside the interface where nothing is. */
export function notFound(): Response {
  const { code, status } = pathNotFound;
  return Response.json({ code, message: "There is nothing at this path.", status }, { status, headers: noSniff });
}
