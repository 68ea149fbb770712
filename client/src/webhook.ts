import { parse } from "./json.ts";
import type { WebhookMessage } from "./operations.ts";

/** The webhook could not be verified and must not be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

export interface VerifyOptions {
  /** How far the timestamp may differ from the current time, in seconds. Default: 300. */
  readonly tolerance?: number | undefined;
  /** The current time in Unix milliseconds. Default: the system clock. */
  readonly now?: number | undefined;
}

/**
 * Verifies a webhook (Standard Webhooks 1.0.0) and returns its parsed body, of which `data` is the event. `body` must be the raw body. `keys` are
 * secrets (`whsec_…`) or public keys (`whpk_…`) of the endpoint, one of which must match. Throws
 * `WebhookVerificationError`.
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  keys: string | readonly string[],
  { tolerance = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookMessage> {
  // A parsed body has no bytes or characters.
  if (!(body as Partial<typeof body> | undefined)?.slice) throw new TypeError("`body` must not be parsed.");
  const given = new Headers(
    Symbol.iterator in headers
      ? headers
      : // Requests over HTTP/2 have fields such as `:path`, which `Headers` refuses.
        Object.entries(headers as Record<string, string>).filter(([name]) => !name.startsWith(":")),
  );
  const header = (name: string) => given.get(`webhook-${name}`) ?? "";
  const timestamp = header("timestamp");
  if (!(Math.abs(now / 1000 - +timestamp) <= tolerance)) {
    throw new WebhookVerificationError(`The timestamp is missing, or more than ${tolerance} s from now.`);
  }
  const text = await new Response(body).text();
  const signed = new TextEncoder().encode(`${header("id")}.${timestamp}.${text}`);
  for (const pasted of [keys].flat()) {
    const key = (pasted as string | undefined)?.trim() ?? ""; // an environment variable may be undefined
    const [kind, base64 = ""] = key.split("_");
    const [version, name] = kind === "whpk" ? ["v1a", "Ed25519"] : ["v1", "HMAC"];
    if (!/^wh(sec|pk)_/.test(key)) throw new TypeError("Keys begin with whsec_ or whpk_.");
    const usable = await crypto.subtle.importKey("raw", bytesOf(base64), { name, hash: "SHA-256" }, false, ["verify"]);
    for (const signature of header("signature").split(" ")) {
      const [of, value = ""] = signature.split(",");
      if (
        of === version &&
        // workerd throws for a signature of the wrong length.
        (await crypto.subtle.verify(name, usable, bytesOf(value), signed).catch(() => false))
      )
        return parse(text) as WebhookMessage;
    }
  }
  throw new WebhookVerificationError("No signature matches.");
}

/** Decodes base64. Returns no bytes for invalid text. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
