import { methodNotAllowed, pathNotFound } from "../contract/errors.ts";
import { noSniff } from "./headers.ts";

/** Something that is served as it is, outside the interface: no key, no limits. */
export interface Page {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The content; made anew for each request where it changes. */
  readonly content: () => Content | Promise<Content>;
}

/** The status is 200 where it is not said. */
interface Content {
  readonly body: string | Blob;
  readonly status?: number;
}

/** Serves a page to GET and HEAD; any other method is refused. */
export async function servePage(page: Page, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const { code, status } = methodNotAllowed;
    const message = `This path has no method ${request.method}; it has GET, HEAD.`;
    return Response.json({ code, message, status }, { status, headers: { Allow: "GET, HEAD", ...noSniff } });
  }
  const { body, status = 200 } = await page.content();
  return new Response(body, {
    status,
    headers: { "Content-Type": page.type, ...noSniff, ...page.headers },
  });
}

/** The answer at paths outside the interface where nothing is. */
export function notFound(): Response {
  const { code, status } = pathNotFound;
  return Response.json({ code, message: "There is nothing at this path.", status }, { status, headers: noSniff });
}
