import { isIP, isIPv4, isIPv6 } from "node:net";
import { version } from "../../../telemetry/version.ts";
import type { Clock } from "../../../timing/clock.ts";
import type { SendFailure } from "../webhooks.schemas.ts";
import { type AddressPolicy, hostOf } from "./addresses.ts";
import { readRetryAfter } from "./backoff.ts";
import { SystemNames } from "./system-names.ts";

/** Milliseconds for one delivery, from looking up the name to the end of the response. */
export const TIME_LIMIT = 15_000;
/** How many addresses of one name are tried until a connection succeeds. */
const MAX_TRIED = 4;

/** The result of a delivery. */
export interface SendResult {
  /** Undefined if the receiver accepted the message. */
  readonly failure?: SendFailure | undefined;
  /** The status and the start of the body, if a response came. */
  readonly status?: number;
  readonly excerpt?: string;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter?: number | undefined;
  /** How long it took, in milliseconds. */
  readonly duration: number;
}

const sameHeaders = {
  "content-type": "application/json",
  "user-agent": `petstore-webhooks/${version}`,
  "accept-encoding": "identity",
} as const;

/** A message that is ready to be sent. */
export interface SignedMessage {
  readonly url: string;
  /** The headers that differ between messages: id, time and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** The dependencies of a delivery. */
export interface Network {
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  /** Returns all addresses of a name; rejects or returns an empty list if it has none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Returns a signal that is aborted after this many milliseconds. */
  readonly expire: (milliseconds: number) => AbortSignal;
  /** Certificates of the trusted authorities, as PEM; if absent, those of the system. */
  readonly authorities?: string;
}

/** The network of this machine. */
export function systemNetwork(policy: AddressPolicy, clock: Clock): Network {
  return {
    policy,
    clock,
    resolve: new SystemNames().resolve,
    expire: (milliseconds) => AbortSignal.timeout(milliseconds),
  };
}

/**
 * Sends a message once, unless it is cancelled. The policy is applied to the address that is then connected to, so that a name cannot resolve
 * to another one in between. `fetch` makes at most 256 requests of a process at a time, and others wait while their
 * time runs: callers must stay below that.
 */
export async function send(message: SignedMessage, network: Network, cancel?: AbortSignal): Promise<SendResult> {
  const begin = network.clock.monotonic();
  const expiry = network.expire(TIME_LIMIT);
  const outcome = await sendWithin(message, network, cancel ? AbortSignal.any([expiry, cancel]) : expiry);
  return { ...outcome, duration: network.clock.monotonic() - begin };
}

type Outcome = Omit<SendResult, "duration">;

async function sendWithin(message: SignedMessage, network: Network, signal: AbortSignal): Promise<Outcome> {
  const refusal = network.policy.refusalOfUrl(message.url);
  if (refusal) return { failure: refusal };
  const url = new URL(message.url);
  try {
    const addresses = await addressesOf(hostOf(url), network, signal);
    if (addresses.length === 0) return { failure: "name_not_resolved" };
    for (const address of addresses) {
      const refused = network.policy.refusalOf(address);
      if (refused) return { failure: refused };
    }
    const response = await firstResponse(url, addresses.slice(0, MAX_TRIED), message, network, signal);
    return await outcomeOf(response, network.clock);
  } catch (error) {
    return { failure: signal.aborted ? "timed_out" : failureOf(error) };
  }
}

/** The addresses of a host. Those of both families take turns: not every machine has a route for each. */
async function addressesOf(host: string, { resolve }: Network, signal: AbortSignal): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await unlessAborted(
    resolve(host).catch(() => []),
    signal,
  );
  const families = [found.filter(isIPv4), found.filter(isIPv6)];
  return found.flatMap((_, turn) => families.flatMap((family) => family.slice(turn, turn + 1)));
}

/** The response of the first address to which a connection can be made. */
async function firstResponse(
  url: URL,
  addresses: readonly string[],
  message: SignedMessage,
  network: Network,
  signal: AbortSignal,
): Promise<Response> {
  const [address = "", ...others] = addresses;
  try {
    return await connect(url, address, message, network, signal);
  } catch (error) {
    if (others.length === 0 || !neverConnected.has(codeOf(error))) throw error;
    return firstResponse(url, others, message, network, signal);
  }
}

/**
 * Sends the message to this address, with the URL's host as host name. It uses `fetch`, which reads responses on another
 * thread: with `node:http`, a receiver that sends endless interim responses (103) blocks the event loop.
 */
function connect(url: URL, address: string, { headers, body }: SignedMessage, network: Network, signal: AbortSignal) {
  const target = new URL(url);
  target.hostname = isIPv6(address) ? `[${address}]` : address;
  const host = hostOf(url);
  return fetch(target, {
    method: "POST",
    headers: { ...headers, ...sameHeaders, host: url.host },
    body,
    signal,
    redirect: "manual",
    proxy: false, // a proxy of the environment would resolve the name again
    keepalive: false, // a connection serves one delivery, and is closed if the response is cut
    decompress: false,
    tls: {
      rejectUnauthorized: true, // even if the environment disables it
      ...(isIP(host) === 0 && { serverName: host }), // the certificate must be for this name
      ...(network.authorities !== undefined && { ca: network.authorities }),
    },
  });
}

async function outcomeOf(response: Response, clock: Clock): Promise<Outcome> {
  const { status } = response;
  const failure = response.ok ? undefined : status >= 300 && status < 400 ? "redirected" : "error_status";
  return {
    failure,
    status,
    excerpt: await readExcerpt(response),
    retryAfter: failure && readRetryAfter(response.headers, clock.now()),
  };
}

const neverConnected = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);

/** What an error of `fetch` means. Error codes look like `CERT_HAS_EXPIRED` (OpenSSL) or `MalformedResponse` (Bun, HTTP). */
function failureOf(error: unknown): SendFailure {
  const code = codeOf(error);
  if (code === "EPROTO" || /^[A-Z0-9]+(_[A-Z0-9]+)+$/.test(code)) return "tls_failed";
  return /^[A-Z0-9]+$/.test(code) ? "connection_failed" : "response_invalid";
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Waits for a value until the signal is aborted, which rejects. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  return Promise.race([work, promise]);
}

/** Bytes of a response that are stored. */
const MAX_EXCERPT = 1024;

/**
 * The start of a response's body, as text that every engine can store. The rest is not read: the connection is closed.
 * If the body breaks off or takes too long, the excerpt is what has arrived until then.
 */
export async function readExcerpt({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let room = MAX_EXCERPT;
  try {
    for await (const piece of body ?? []) {
      pieces.push(piece.subarray(0, room));
      room -= piece.length;
      if (room <= 0) break; // which cancels the stream
    }
  } catch {
    // The status has been received, and it alone decides whether the delivery succeeded.
  }
  // `stream` leaves out a character that was cut at the end.
  const text = new TextDecoder().decode(Buffer.concat(pieces), { stream: true });
  return text.replaceAll("\0", "\uFFFD"); // PostgreSQL stores no NUL
}
