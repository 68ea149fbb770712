import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { matchesIfNoneMatch } from "../input/request-headers.ts";
import { entityTag } from "./headers.ts";
import { sharedBody } from "./response.ts";

/** Larger content, in bytes, is compressed at a lower level, because the first client would wait for seconds. */
const LARGE = 1_000_000;

/** Content codings in which fixed content is sent, the smallest result first. */
const codings = ["br", "gzip", "identity"] as const;
type Coding = (typeof codings)[number];

/** Content in one coding, with its strong entity tag (RFC 9110, section 8.8.3). */
interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Makes the body of a response. */
  readonly body: ReturnType<typeof sharedBody>;
  readonly tag: string;
}

/** Creates the content. */
export type MakeContent = () => MaybePromise<string | Uint8Array<ArrayBuffer>>;

/**
 * Content that does not change while the process runs. It is created on its first request, so that it does not delay
 * startup, and compressed on another thread, so that it delays no other request.
 */
export class FixedContent {
  readonly #make: MakeContent;
  readonly #representations = new Map<Coding, Promise<Representation>>();

  constructor(make: MakeContent) {
    this.#make = make;
  }

  /** The response to GET or HEAD in the client's preferred coding, or 304 if the client already has it. */
  async respond(request: Request, headers: Readonly<Record<string, string>>): Promise<Response> {
    const coding = preferredCoding(request.headers.get("accept-encoding"));
    const { body, tag } = await this.#representation(coding);
    const own = { "Cache-Control": "no-cache", ...headers, ETag: tag, Vary: "Accept-Encoding" };
    const ifNoneMatch = request.headers.get("if-none-match");
    if (ifNoneMatch !== null && matchesIfNoneMatch(ifNoneMatch, tag)) {
      const { "Content-Type": _, ...unchanged } = own as Record<string, string>;
      return new Response(null, { status: 304, headers: unchanged });
    }
    return new Response(body(), { headers: coding === "identity" ? own : { ...own, "Content-Encoding": coding } });
  }

  /** Creates and compresses the content before its first request. */
  async prepare(): Promise<void> {
    for (const coding of codings) await this.#representation(coding);
  }

  #representation(coding: Coding): Promise<Representation> {
    let representation = this.#representations.get(coding);
    if (!representation) {
      representation = coding === "identity" ? this.#plain() : this.#compressed(coding);
      this.#representations.set(coding, representation);
      representation.catch(() => this.#representations.delete(coding)); // the next request tries again
    }
    return representation;
  }

  async #plain(): Promise<Representation> {
    const made = await this.#make();
    const bytes = typeof made === "string" ? new TextEncoder().encode(made) : made;
    return { bytes, body: sharedBody(bytes), tag: entityTag(bytes) };
  }

  async #compressed(coding: "br" | "gzip"): Promise<Representation> {
    const { bytes: plain, tag } = await this.#representation("identity");
    const quality = plain.length > LARGE ? 5 : constants.BROTLI_MAX_QUALITY;
    const compressed =
      coding === "gzip"
        ? await promisify(gzip)(plain)
        : await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
    const bytes = new Uint8Array(compressed);
    return { bytes, body: sharedBody(bytes), tag: `${tag.slice(0, -1)}-${coding}"` };
  }
}

/**
 * The coding that an `Accept-Encoding` header prefers (RFC 9110, section 12.5.3). Ties go to the first in `codings`.
 * `identity` if there is no header, or it accepts none of them.
 */
function preferredCoding(acceptEncoding: string | null): Coding {
  if (acceptEncoding === null) return "identity";
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
    weights.set(coding, weightOf(parameters));
  }
  const weightFor = (coding: Coding) => weights.get(coding) ?? (coding === "identity" ? 0 : (weights.get("*") ?? 0));
  const best = Math.max(...codings.map(weightFor));
  return best > 0 ? (codings.find((coding) => weightFor(coding) === best) as Coding) : "identity";
}

/** The weight of a coding, from 0 (never) to 1; a malformed one counts as 0. */
function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  if (weight === undefined) return 1;
  const value = Number(weight.slice(2));
  return value >= 0 && value <= 1 ? value : 0;
}
