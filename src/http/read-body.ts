import type { TSchema } from "typebox";
import { type Failure, type Fault, failure, payloadTooLarge, unsupportedMediaType } from "../contract/errors.ts";
import { compileDecoder, compileValidator } from "../contract/validators.ts";
import { faultsOf } from "./faults.ts";
import { parseJson } from "./parse-json.ts";

/** Largest body, in bytes. */
const BODY_LIMIT = 64 * 1024;

export type BodyResult = { readonly value: unknown } | { readonly faults: Fault[] } | Failure;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Compiles the schema of a body into a function that reads it from a request. */
export function compileBodyReader(schema: TSchema): (request: Request) => BodyResult | Promise<BodyResult> {
  const validator = compileValidator(schema);
  const decode = compileDecoder(schema) ?? ((value: unknown) => value);

  const parse = (bytes: Uint8Array): BodyResult => {
    if (bytes.length === 0) return { faults: [{ path: "/body", message: "is missing" }] };
    let value: unknown;
    try {
      value = parseJson(utf8.decode(bytes));
    } catch (error) {
      return { faults: [{ path: "/body", message: unreadable(error) }] };
    }
    if (validator.Check(value)) return { value: decode(value) };
    return { faults: faultsOf(validator, value, schema, "/body", "field") };
  };

  return (request) => {
    const refused = refuseHeaders(request.headers);
    if (refused) return refused;
    return readBytes(request).then(
      (bytes) => (bytes ? parse(bytes) : tooLarge()),
      // The client is gone: nobody reads the answer, but it is no failure of the service.
      () => ({ faults: [{ path: "/body", message: "ended before it was complete" }] }),
    );
  };
}

/** Why a body cannot be read, by what its decoder or its parser threw. */
function unreadable(error: unknown): string {
  if (error instanceof SyntaxError) return "is not valid JSON";
  return error instanceof RangeError ? "is nested too deeply" : "is not JSON in valid UTF-8";
}

/** What can be refused before a byte of the body is read. */
function refuseHeaders(headers: Headers): Failure | undefined {
  const type = headers.get("content-type");
  if (!isJson(type)) {
    return failure(
      unsupportedMediaType,
      type === null
        ? "The request has no content type; send the body as application/json."
        : "The body has to be sent as application/json.",
    );
  }
  if ((headers.get("content-encoding") ?? "identity") !== "identity") {
    return failure(unsupportedMediaType, "The body has to be sent without a content encoding.");
  }
  return Number(headers.get("content-length") ?? 0) > BODY_LIMIT ? tooLarge() : undefined;
}

/** True if a body comes that nobody has begun to read, and that may be larger than any that is taken. */
export function hasUnreadBody({ headers, bodyUsed }: Request): boolean {
  if (bodyUsed) return false;
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > BODY_LIMIT;
}

function isJson(contentType: string | null): boolean {
  return (
    contentType === "application/json" ||
    /^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?;?$/i.test(contentType ?? "")
  );
}

function tooLarge(): Failure {
  return failure(payloadTooLarge, `The body is larger than ${BODY_LIMIT} bytes.`);
}

/** The whole body, or undefined if it is larger than the limit. */
function readBytes(request: Request): Promise<Uint8Array | undefined> {
  return request.headers.has("content-length") ? request.bytes() : readPieces(request);
}

/** A body without a length is read piece by piece, so that it can be left as soon as it is too large. */
async function readPieces(request: Request): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body ?? []) {
    length += piece.length;
    if (length > BODY_LIMIT) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
