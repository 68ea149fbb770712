import { parse } from "./json.ts";

/** It is not shown that the service has sent this. It must not be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

export interface VerifyOptions {
  /** How far the message's time may be from the present, in seconds. Default: 300. */
  readonly tolerance?: number | undefined;
  /** The present, in unix milliseconds. Default: that of the system. */
  readonly now?: number | undefined;
}

/**
 * Checks that the service has sent a webhook (Standard Webhooks 1.0.0), and returns its body, parsed. `body` must be as it
 * was received. Of the endpoint's secrets (`whsec_…`) or public keys (`whpk_…`) one must fit. Throws
 * `WebhookVerificationError`.
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  keys: string | readonly string[],
  { tolerance = 300, now = Date.now() }: VerifyOptions = {},
): Promise<unknown> {
  const given = new Headers(headers as Record<string, string>);
  const header = (name: string) => given.get(`webhook-${name}`) ?? "";
  const timestamp = header("timestamp");
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= tolerance)) {
    throw new WebhookVerificationError("The timestamp is too old.");
  }
  const text = await new Response(body).text();
  const signed = new TextEncoder().encode(`${header("id")}.${timestamp}.${text}`);
  for (const key of [keys].flat()) {
    const [kind, base64 = ""] = key.split("_");
    const [version, name] = kind === "whpk" ? ["v1a", "Ed25519"] : ["v1", "HMAC"];
    if (!/^wh(sec|pk)_/.test(key)) throw new TypeError("Keys begin with whsec_ or whpk_.");
    const usable = await crypto.subtle.importKey("raw", bytesOf(base64), { name, hash: "SHA-256" }, false, ["verify"]);
    for (const signature of header("signature").split(" ")) {
      const [of, value = ""] = signature.split(",");
      if (of !== version) continue;
      // workerd fails where a signature has not as many bytes as it should.
      if (await crypto.subtle.verify(name, usable, bytesOf(value), signed).catch(() => false)) return parse(text);
    }
  }
  throw new WebhookVerificationError("No signature fits the body and the key.");
}

/** The bytes of a base64 text; none if it is not one. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
