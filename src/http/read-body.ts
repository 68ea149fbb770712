import type { TSchema } from "typebox";
import { type Failure, type Fault, failure, payloadTooLarge, unsupportedMediaType } from "../contract/errors.ts";
import { faultsOf } from "../contract/faults.ts";
import { parseJson } from "../contract/parse-json.ts";
import { compileDecoder, compileValidator } from "../contract/validators.ts";
import type { MaybePromise } from "../maybe-promise.ts";

/** Largest body, in bytes. */
const BODY_LIMIT = 64 * 1024;

export type BodyResult = { readonly value: unknown } | { readonly faults: Fault[] } | Failure;

/** Reads the body of a request, and goes on with it: in the same step, because each promise more costs time. */
type BodyReader = <T>(request: Request, next: (body: BodyResult) => T) => MaybePromise<T>;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Compiles the schema of a body, sent in one of the media types, into a function that reads it from a request. */
export function compileBodyReader(schema: TSchema, mediaTypes: readonly string[]): BodyReader {
  const refuseHeaders = compileHeaderCheck(mediaTypes);
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

  return (request, next) => {
    const refused = refuseHeaders(request.headers);
    if (refused) return next(refused);
    return readBytes(request).then(
      (bytes) => next(bytes ? parse(bytes) : tooLarge()),
      // The client is gone: nobody reads the answer, but it is no failure of the service.
      () => next({ faults: [{ path: "/body", message: "ended before it was complete" }] }),
    );
  };
}

/** Why a body cannot be read, by what its decoder or its parser threw. */
function unreadable(error: unknown): string {
  if (error instanceof SyntaxError) return "is not valid JSON";
  return error instanceof RangeError ? "is nested too deeply" : "is not JSON in valid UTF-8";
}

/** Compiles the check of what can be refused before a byte of the body is read. */
function compileHeaderCheck(mediaTypes: readonly string[]): (headers: Headers) => Failure | undefined {
  const names = mediaTypes.join(" or ");
  const noType = failure(unsupportedMediaType, `The request has no content type; send the body as ${names}.`);
  const otherType = failure(unsupportedMediaType, `The body has to be sent as ${names}.`);
  const escaped = mediaTypes.map((name) => name.replaceAll(/[.+]/g, "\\$&"));
  const pattern = new RegExp(`^(?:${escaped.join("|")})[ \\t]*(;[ \\t]*charset=("utf-8"|utf-8)[ \\t]*)?;?$`, "i");
  return (headers) => {
    const type = headers.get("content-type");
    if (type === null) return noType;
    if (!mediaTypes.includes(type) && !pattern.test(type)) return otherType;
    if ((headers.get("content-encoding") ?? "identity") !== "identity") {
      return failure(unsupportedMediaType, "The body has to be sent without a content encoding.");
    }
    return Number(headers.get("content-length") ?? 0) > BODY_LIMIT ? tooLarge() : undefined;
  };
}

/** True if a body comes, however it is framed. */
export function hasBody({ headers }: Request): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0; // a list of equal lengths is one too
}

/** True if a body comes that nobody has begun to read, and that may be larger than any that is taken. */
export function hasUnreadBody({ headers, bodyUsed }: Request): boolean {
  if (bodyUsed) return false;
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > BODY_LIMIT;
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
