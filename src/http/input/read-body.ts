import {
  type Failure,
  type Fault,
  failure,
  invalidInput,
  payloadTooLarge,
  unsupportedMediaType,
} from "../../contract/errors.ts";
import { faultsOf } from "../../contract/input-faults.ts";
import { listed, shown } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { actionsOf } from "../../contract/operation-properties.ts";
import { parseJson, sizeFault, syntaxFault } from "../../contract/parse-json.ts";
import { type BodyLimits, bodyLimits } from "../../contract/requests.ts";
import { compileDecoder, compileValidator } from "../../contract/validators.ts";
import { bodyLength } from "./request-headers.ts";

export type BodyResult = { readonly value: unknown } | { readonly faults: Fault[] } | Failure;

/** Reads a body. If it has to arrive, the promise is for a function that parses it, which can take milliseconds. */
export type BodyReader = (request: Request) => BodyResult | Promise<() => BodyResult>;

const utf8 = new TextDecoder("utf-8", { fatal: true });

const missingBody: BodyResult = { faults: [{ path: "/body", message: "is missing; send a JSON object" }] };
export const noBody: BodyResult = { value: undefined };
/** An unexpected body is an error, because the client expects it to have an effect. */
const unknownBody: BodyResult = { faults: [{ path: "/body", message: "must be empty for this operation" }] };
/** The client has disconnected and does not read the response. It is not a failure of the service. */
const endedBody: BodyResult = { faults: [{ path: "/body", message: "ended before it was complete" }] };
export const malformedLength = invalidInput([{ path: "/header/Content-Length", message: "must be one number" }]);

/** Compiles the schema of a body, sent in one of the media types, into a function that reads it from a request. */
export function compileBodyReader(
  { schema, optional, limits = bodyLimits, files = "" }: NonNullable<Operation["body"]>,
  mediaTypes: readonly string[],
  advise = (fault: Fault): Fault => fault,
): BodyReader {
  const refuseType = compileTypeCheck(mediaTypes, files);
  const validator = compileValidator(schema);
  const decode = compileDecoder(schema) ?? ((value: unknown) => value);

  const parse = (bytes: Uint8Array): BodyResult => {
    if (bytes.length === 0) return optional ? { value: {} } : missingBody;
    let text: string | undefined;
    let value: unknown;
    try {
      text = utf8.decode(bytes);
      const message = sizeFault(text, limits);
      if (message) return { faults: [{ path: "/body", message }] };
      value = parseJson(text);
    } catch {
      const message = text === undefined ? "is not JSON in valid UTF-8" : syntaxFault(text);
      return { faults: [{ path: "/body", message: files ? `${message}; ${files}` : message }] };
    }
    if (validator.Check(value)) return { value: decode(value) };
    return { faults: faultsOf(value, schema, "/body", "field of this operation").map(advise) };
  };

  const read = compileBytesReader(limits, parse);
  return (request) => {
    const { headers } = request;
    return optional && bodyLength(headers) === 0 ? { value: {} } : (refuseType(headers) ?? read(request));
  };
}

/**
 * Compiles what is added to the faults of unknown fields that the response has: which operations change a state, whose
 * values are like their names (`confirmed` like `/confirm`).
 */
export function compileAdvice(
  { path, response }: Operation,
  operations: readonly Operation[],
): (fault: Fault) => Fault {
  const shownFields =
    (response.schema as { properties?: Record<string, { enum?: readonly string[] }> }).properties ?? {};
  return (fault) => {
    const name = fault.path.slice("/body/".length);
    const isUnknown = fault.message.startsWith("is not a field");
    if (!isUnknown || !Object.hasOwn(shownFields, name)) return fault;
    const changing = actionsOf(path, operations).filter((action) => {
      const verb = action.path.slice(path.length + 1);
      return shownFields[name]?.enum?.some((state) => state.startsWith(verb));
    });
    const by = changing.length > 0 ? `; POST ${listed(changing.map((one) => one.path))} change it` : "";
    return { ...fault, message: fault.message.replace("operation", "operation, only of its response") + by };
  };
}

/** Reads the body of an operation that has none. Many clients send an empty object. */
export const readEmptyBody: BodyReader = (request) =>
  bodyLength(request.headers) === 0 ? noBody : readUnlessEmpty(request);

const readUnlessEmpty = compileBytesReader(bodyLimits, requireEmpty);

function requireEmpty(bytes: Uint8Array): BodyResult {
  const isEmpty =
    bytes.length === 0 || /^[ \t\r\n]*\{[ \t\r\n]*\}[ \t\r\n]*$/.test(Buffer.from(bytes).toString("latin1"));
  return isEmpty ? noBody : unknownBody;
}

/** Compiles the check of a body's media type and encoding. */
function compileTypeCheck(mediaTypes: readonly string[], files: string): (headers: Headers) => Failure | undefined {
  const names = mediaTypes.join(" or ");
  const refusal = (what: string) => failure(unsupportedMediaType, `The request has no ${what}; send one as ${names}.`);
  const [noType, nothing] = [refusal("content type"), refusal("body")];
  const escaped = mediaTypes.map((name) => name.replaceAll(/[.+]/g, "\\$&"));
  const pattern = new RegExp(`^(?:${escaped.join("|")})[ \\t]*(;[ \\t]*charset=("utf-8"|utf-8)[ \\t]*)?;?$`, "i");
  return (headers) => {
    const type = headers.get("content-type");
    if (type === null) return bodyLength(headers) === 0 ? nothing : noType;
    if (!mediaTypes.includes(type) && !pattern.test(type)) {
      const advice = files && `; ${files}`;
      return failure(unsupportedMediaType, `${typeFault(type, mediaTypes)} Send the body as ${names}${advice}.`);
    }
    const encoding = headers.get("content-encoding") ?? "identity";
    if (encoding === "identity") return undefined;
    const message = `The body must be sent without a content encoding; got ${shown(encoding)}.`;
    return failure(unsupportedMediaType, message);
  };
}

/** What is wrong with a content type. */
function typeFault(type: string, mediaTypes: readonly string[]): string {
  const [name = "", ...parameters] = type.split(";").map((part) => part.trim());
  if (mediaTypes.includes(name.toLowerCase())) {
    const other = parameters.find((parameter) => !/^(?:charset="?utf-8"?)?$/i.test(parameter)) ?? parameters.join("; ");
    return `The content type has ${shown(other)}, but no parameter other than charset=utf-8 is supported.`;
  }
  const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)$/i.test(name);
  const advice = isForm ? ", a form; curl needs -H 'Content-Type: application/json'" : "";
  return `The content type is ${shown(isForm ? name : type)}${advice}.`;
}

/** Returns a function that parses the full body of a request, or says why it is missing. */
function compileBytesReader({ bytes: most }: BodyLimits, parse: (bytes: Uint8Array) => BodyResult): BodyReader {
  const tooLarge = failure(payloadTooLarge, `The body is larger than ${most} bytes.`);
  return (request) => {
    const length = bodyLength(request.headers);
    if (length === "malformed") return malformedLength;
    if (length !== "chunked" && length > most) return tooLarge;
    const reading = length === "chunked" ? readPieces(request, most) : request.bytes();
    return reading.then(
      (bytes) => () => (bytes && bytes.length <= most ? parse(bytes) : tooLarge),
      () => () => endedBody,
    );
  };
}

/** Reads a body without a length in chunks. Returns undefined as soon as it is too large, without reading the rest. */
async function readPieces({ body }: Request, most: number): Promise<Uint8Array | undefined> {
  if (!body) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  const reader = body.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    length += value.length;
    if (length > most) {
      reader.releaseLock(); // so that the rest can be drained
      return undefined;
    }
    pieces.push(value);
  }
}
