import type { Failure } from "../../contract/errors.ts";
import {
  type Input,
  type Paged,
  type Resource,
  requireDeclared,
  type Streamed,
  type Success,
} from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import {
  acceptPatch,
  compileFillPath,
  type deprecationHeaders,
  hasEntityTag,
  isCacheable,
  responseType,
  showsSecret,
} from "../../contract/operation-properties.ts";
import { IDEMPOTENT_REPLAYED } from "../../contract/requests.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { matchesIfNoneMatch } from "../input/request-headers.ts";
import type { Admission } from "../interfaces.ts";
import { noResponse } from "../simulation/read-simulation.ts";
import { compileEventEncoder, type EncodedStream } from "../streams/event-encoder.ts";
import {
  challenge,
  entityTag,
  optionsHeaders,
  ReusedHeaders,
  secretHeaders,
  sharedHeaders,
  streamHeaders,
} from "./headers.ts";
import type { PageLinks } from "./page-links.ts";
import { compilePageText } from "./page-text.ts";

/** From this length on, a body is sent in pieces: until its client has read it, the runtime would hold a copy of it. */
const LARGE = 65_536;
/** The length of a piece. */
const PIECE = 16_384;
/** After this much, other connections get their turn: the system's buffer can take megabytes. */
const TURN = 16 * PIECE;
/** How many bytes clients may leave unread in total before the shops that leave most get no more. */
const MAX_UNREAD = 32 * 1024 * 1024;
type Controller = ReadableStreamDefaultController<Uint8Array>;

const utf8 = new TextEncoder();

/** A success as it is sent: the parts that are identical each time. */
export interface Rendered {
  readonly text: string;
  /** The value of `Link`; empty for none. */
  readonly link: string;
  /** The entity tag; empty for none. */
  readonly tag: string;
  /** The id of the created resource, and its path below the base address; empty for none. */
  readonly created: string;
  readonly location: string;
  /** See `Paged`. */
  readonly lasts?: Paged["lasts"];
  /** The events of a streamed response, instead of a text. */
  readonly stream?: EncodedStream;
}

const nothing: Rendered = { text: "", link: "", tag: "", created: "", location: "" };

/** Renders a success of one operation. `input` is the request's input. */
type RenderSuccess = (success: Success, input: Input) => Rendered;

/** `deprecationLink` is the part of `Link` that every response of a deprecated operation has; otherwise empty. */
function compileRender(operation: Operation, pages: PageLinks | undefined, deprecationLink: string): RenderSuccess {
  const { schema, status, location: path } = operation.response;
  if (status === 204) return () => nothing;
  const encoder = compileEventEncoder(operation);
  if (encoder) return (success) => ({ ...nothing, stream: { source: (success as Streamed).stream, encoder } });
  const fillLocation = path === undefined ? undefined : compileFillPath(path);
  const tagOf = hasEntityTag(operation) ? entityTag : () => "";
  if (!pages) {
    const serialize = compileSerializer(schema);
    return (success) => {
      const body = (success as Resource).body as Readonly<Record<string, unknown>> & { readonly id?: bigint | string };
      const text = serialize(body);
      // The links of a deprecated operation are not part of the resource.
      const tag = tagOf(text, "");
      const created = status === 201 ? String(body.id ?? "") : "";
      return { text, link: deprecationLink, tag, created, location: fillLocation?.(body) ?? "" };
    };
  }
  const pageText = compilePageText(schema);
  const ids = operation.paged?.ids ?? "";
  return (success, input) => {
    const { items, next: end, positionAt, lasts } = success as Paged;
    const { text, count } = pageText(items as readonly unknown[], input.pageBytes);
    const next = count < (items as readonly unknown[]).length ? positionAt(count - 1) : end;
    const toNext = next === undefined ? "" : pages.next(input, next);
    const link = toNext === "" || deprecationLink === "" ? toNext + deprecationLink : `${toNext}, ${deprecationLink}`;
    const requested = (input.query as Readonly<Record<string, unknown>>)[ids] as readonly bigint[] | undefined;
    const tag = requested?.length === 1 && count === 1 ? tagOf(text.slice(1, -1), "") : tagOf(text, link);
    return { text, link, tag, created: "", location: "", lasts };
  };
}

/** What the responses of an operation share, prepared once at startup. */
export type PreparedResponses = ReturnType<typeof prepareResponses>;

/** What a response repeats of its request. */
interface Answered {
  readonly id: string;
  readonly request: Request;
  readonly route: { readonly allow: string; readonly methods: ReadonlyMap<string, PreparedResponses> };
  readonly isReplay: boolean;
}

export function prepareResponses(
  operation: Operation,
  base: string,
  pages: PageLinks | undefined,
  deprecation: ReturnType<typeof deprecationHeaders>,
) {
  const { status, stream } = operation.response;
  const ofAll = { ...sharedHeaders, ...deprecation };
  const ofSuccess = {
    ...ofAll,
    ...(status === 204 ? {} : { "Content-Type": responseType(operation) }),
    ...(showsSecret(operation) ? secretHeaders : {}),
    ...(stream ? streamHeaders : {}),
  };
  const render = compileRender(operation, pages, deprecation?.Link ?? "");
  return {
    operation,
    /** The base address. */
    base,
    /** Renders what a handler returned. */
    render: (outcome: Success | Failure, input: Input) =>
      "error" in outcome ? requireDeclared(outcome, operation) : render(outcome, input),
    hasEntityTag: hasEntityTag(operation),
    isCacheable: isCacheable(operation),
    successHeaders: new ReusedHeaders(ofSuccess),
    failureHeaders: new ReusedHeaders({ ...ofAll, "Content-Type": "application/json" }),
  };
}

/** The response to a request whose handler succeeded. */
export function successResponse(
  answered: Answered,
  prepared: PreparedResponses,
  admission: Admission,
  { text, link, tag, location }: Rendered,
  shop: number,
  unread: Unread,
): Response {
  const { successHeaders } = prepared;
  const { status } = prepared.operation.response;
  // One object for all responses of the operation: copying it is cheaper than filling it again.
  const headers = successHeaders.shared;
  successHeaders.setOwn(answered.id, admission);
  if (status === 204) return markReplay(answered, new Response(null, { status, headers }));
  if (prepared.operation.paged) successHeaders.set("Link", link);
  if (location !== "") headers.set("Location", prepared.base + location);
  if (prepared.hasEntityTag) successHeaders.set("ETag", tag);
  if (!prepared.isCacheable) return markReplay(answered, unread.response(text, shop, { status, headers }));
  const ifNoneMatch = answered.request.headers.get("if-none-match");
  if (ifNoneMatch === null || !matchesIfNoneMatch(ifNoneMatch, tag)) return unread.response(text, shop, { headers });
  const unchanged = new Response(null, { status: 304, headers });
  unchanged.headers.delete("Content-Type");
  return unchanged;
}

/** The response of a stream. For `HEAD` it has no body; the runtime would add the length of an empty one. */
export function streamResponse(
  { id }: Answered,
  { successHeaders }: PreparedResponses,
  admission: Admission,
  body: ReadableStream | null,
): Response {
  successHeaders.setOwn(id, admission);
  const response = new Response(body, { headers: successHeaders.shared });
  if (!body) response.headers.set("Transfer-Encoding", "chunked");
  return response;
}

/** The headers of failures of requests that name no operation. */
const headersWithoutOperation = new ReusedHeaders({ ...sharedHeaders, "Content-Type": "application/json" });

/** The response to a failed request, with an Error body. With `closesConnection`, the connection is closed after it. */
export function failureResponse(
  answered: Answered,
  prepared: PreparedResponses | undefined,
  admission: Admission,
  failed: Failure,
  closesConnection: boolean,
): Response {
  const { error, message, details, retryAfter } = failed;
  if (error === noResponse) return closedConnection();
  const headers = prepared ? prepared.failureHeaders : headersWithoutOperation;
  headers.setOwn(answered.id, admission);
  headers.set("Retry-After", retryAfter === undefined ? "" : String(retryAfter));
  headers.set("Allow", error.status === 405 ? answered.route.allow : "");
  headers.set("Accept-Patch", error.status === 415 ? acceptPatch(prepared?.operation) : "");
  headers.set("WWW-Authenticate", challenge(failed, prepared?.operation.scopes));
  headers.set("Connection", closesConnection ? "close" : ""); // RFC 9112, section 9.6
  const body = JSON.stringify({ code: error.code, message, status: error.status, details });
  return markReplay(answered, new Response(body, { status: error.status, headers: headers.shared }));
}

/** Returns the response, marked if it is a replay. */
function markReplay({ isReplay }: Answered, response: Response): Response {
  if (isReplay) response.headers.set(IDEMPOTENT_REPLAYED, "true");
  return response;
}

/** No response: the runtime resets the connection when a body fails before its first byte. */
function closedConnection(): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(undefined) }); // an Error would be printed
  return new Response(body, { status: noResponse.status });
}

/** The response to `OPTIONS`. It lists the methods of a known path, and needs no key. */
export function optionsResponse({ id, route }: Answered, admission: Admission): Response {
  const patch = acceptPatch(route.methods.get("PATCH")?.operation);
  const headers = new ReusedHeaders({ ...sharedHeaders, ...optionsHeaders(route.allow, patch) });
  headers.setOwn(id, admission);
  return new Response(null, { status: 204, headers: headers.shared });
}

/** What clients have not read yet of large bodies and streams: of each shop, and of all. */
export class Unread {
  readonly #ofShop = new Map<number, number>();
  #total = 0;

  /** Counts bytes for a shop until it is called again with as many less. */
  add(shop: number, bytes: number): void {
    this.#total += bytes;
    const ofShop = (this.#ofShop.get(shop) ?? 0) + bytes;
    if (ofShop === 0) this.#ofShop.delete(shop);
    else this.#ofShop.set(shop, ofShop);
  }

  /** True if too much is unread, and the shop has left at least the average. */
  isTooMuchOf(shop: number): boolean {
    return this.#total > MAX_UNREAD && (this.#ofShop.get(shop) ?? 0) >= this.#total / this.#ofShop.size;
  }

  /** A response to a shop. A large body counts until it is read or its client has left. */
  response(text: string, shop: number, init: ResponseInit): Response {
    if (text.length < LARGE) return new Response(text, init);
    this.add(shop, text.length);
    return new Response(
      bodyOf(text, () => this.add(shop, -text.length)),
      init,
    );
  }
}

/** The body of one response. `ended` is called when a large one is read or its client has left. */
export function bodyOf(text: string, ended?: () => void): string | ReadableStream<Uint8Array> {
  if (text.length < LARGE) return text;
  let sent = 0;
  const next = () => {
    if (sent >= text.length) return undefined;
    const from = sent;
    sent += PIECE;
    if (/[\uD800-\uDBFF]/.test(text.charAt(sent - 1))) sent--; // half a character
    return utf8.encode(text.slice(from, sent));
  };
  return inPieces(next, ended);
}

/** Makes the bodies of many responses. They share the bytes. */
export function sharedBody(bytes: Uint8Array<ArrayBuffer>): () => Blob | ReadableStream<Uint8Array> {
  if (bytes.length < LARGE) {
    const blob = new Blob([bytes]);
    return () => blob;
  }
  return () => {
    let sent = 0;
    return inPieces(async () => {
      if (sent > 0 && sent % TURN === 0) await new Promise(setImmediate);
      return sent < bytes.length ? bytes.subarray(sent, (sent += PIECE)) : undefined;
    });
  };
}

/** `next` returns the next piece whenever the connection has taken the one before; undefined at the end. */
function inPieces(next: () => MaybePromise<Uint8Array | undefined>, ended = () => {}): ReadableStream<Uint8Array> {
  const pull = async (controller: Controller) => {
    const piece = await next();
    if (piece) return controller.enqueue(piece);
    ended();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: ended }, { highWaterMark: 0 }); // no internal queue, which would take all
}
