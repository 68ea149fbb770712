import type { Operation } from "../../src/contract/operation.ts";
import { errorCatalogue } from "../../src/contract/operation-properties.ts";
import { type CheckedResponse, DocumentCheck } from "../harness/document-check.ts";

/** What a hostile request holds where it should never come back in a header. */
export const MARK = "hx7q9z";

/** Text that only the inside of the program knows. */
const internal =
  /\bsrc\/|\.m?[jt]s\b|node_modules|\bat [\w.<>]+ ?\(|sqlite|typebox|(type|range|syntax|reference)error|\bstack\b|\bbun\b|\/tmp\/|\/home\/|\[object |\bundefined\b|\bNaN\b|psk_(test|live)_[0-9a-z]/i;

/** Every header that a response of the service may have. */
const known =
  /^(accept-patch|access-control-[a-z-]+|allow|cache-control|connection|content-length|content-type|date|deprecation|etag|link|location|retry-after|sunset|vary|www-authenticate|x-content-type-options|x-ratelimit-(limit|remaining|reset)|x-request-id)$/;

/** What a stream has beside them. */
const knownOfStreams = /^(transfer-encoding|x-accel-buffering)$/;

/** The length of the largest response to an error, in characters: 50 faults. */
const LARGEST_ERROR = 16_000;

/** What every response of the service must have, whatever was sent. */
export class Soundness {
  readonly #document: DocumentCheck;
  readonly #basePath: string;
  readonly #statuses: ReadonlyMap<string, number>;

  constructor(document: unknown, operations: readonly Operation[], basePath: string) {
    this.#document = DocumentCheck.of(document);
    this.#basePath = basePath;
    this.#statuses = new Map(errorCatalogue(operations).map(({ code, status }) => [code, status]));
  }

  /** Throws an error that says what is wrong with a response. `target` is the request's target, as it was sent. */
  check(method: string, target: string, response: Omit<CheckedResponse, "method" | "path">): void {
    const { status, headers, text } = response;
    const path = pathIn(target);
    const faults: string[] = [];
    if (status >= 500) faults.push("the service failed");
    const isStream = headers.get("content-type") === "text/event-stream";
    for (const [name, value] of headers) {
      if (!known.test(name) && !(isStream && knownOfStreams.test(name)))
        faults.push(`header ${name} is none of the service's`);
      if (!/^[ -~]*$/.test(value) || value.includes(MARK)) faults.push(`header ${name} holds what was sent: ${value}`);
    }
    if (status >= 400) faults.push(...this.#errorFaults(status, path, method === "HEAD" ? "" : text));
    if (faults.length > 0) {
      throw new Error(`${method} ${target.slice(0, 200)} → ${status}: ${faults.join("; ")}\n${text.slice(0, 2_000)}`);
    }
    if (path === this.#basePath || path.startsWith(`${this.#basePath}/`)) {
      this.#document.check({ method, path: path.slice(this.#basePath.length), ...response });
    }
  }

  #errorFaults(status: number, path: string, text: string): string[] {
    const faults: string[] = [];
    if (text.length > LARGEST_ERROR) faults.push(`the response has ${text.length} characters`);
    if (text === "") return faults;
    const body = JSON.parse(text) as ErrorBody;
    if (body.status !== status) faults.push(`the body says ${body.status}`);
    if (this.#statuses.get(body.code) !== status) faults.push(`${body.code} does not belong to the status`);
    if (internal.test(withoutEcho(body, path))) faults.push("the response shows something internal");
    if (!isUnicode(body)) faults.push("the response is not Unicode");
    return faults;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
}

/** The words of an error without the names and ids that the client itself chose, and the values in quotes. */
function withoutEcho({ message, details = [] }: ErrorBody, path: string): string {
  const echoed = [details[0]?.path ?? "", ...path.split("/")];
  const [first = "", ...others] = [message, ...details.map((fault) => fault.message)].map((text) =>
    text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ""),
  );
  return [echoed.reduce((text, one) => text.replace(one, ""), first), ...others].join("\n");
}

function isUnicode({ message, details = [] }: ErrorBody): boolean {
  return message.isWellFormed() && details.every(({ path }) => path.isWellFormed());
}

/** The path in a request's target, which may be a whole address. */
function pathIn(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?]*/i, "");
  return path.split("?")[0] as string;
}
