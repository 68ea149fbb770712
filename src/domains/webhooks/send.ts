import { isIP, isIPv6 } from "node:net";
import { version } from "../../telemetry/version.ts";
import type { Clock } from "../../timing/clock.ts";
import { type AddressPolicy, hostOf, refusals } from "./addresses.ts";
import { readRetryAfter } from "./backoff.ts";
import { readExcerpt } from "./excerpt.ts";

/** Milliseconds for one attempt, from looking up the name to the end of the response. */
const TIME_LIMIT = 15_000;
/** Addresses of one name that are tried, for as long as no connection can be made. */
const MOST_TRIED = 3;

/** Why an attempt failed, in words. */
export const sendFailures = {
  ...refusals,
  name_not_resolved: "The name has no address.",
  connection_failed: "No connection could be made, or it was closed before a response came.",
  tls_failed: "The receiver did not show a valid certificate for its name, or does not speak TLS.",
  timed_out: "No response came within 15 seconds.",
  response_invalid: "What came was not an HTTP response.",
  redirected: "The response was a redirect. Redirects are not followed; change the URL of the endpoint.",
  error_status: "The status of the response was not one from 200 to 299.",
} as const;

/** The code of such a reason. */
export type SendFailure = keyof typeof sendFailures;

/** What an attempt came to. */
export interface SendResult {
  /** Undefined where the receiver took the message. */
  readonly failure: SendFailure | undefined;
  /** The status and the start of the body, where a response came. */
  readonly status: number | undefined;
  readonly excerpt: string | undefined;
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter: number | undefined;
  /** Milliseconds that it took. */
  readonly duration: number;
}

const sameHeaders = {
  "content-type": "application/json",
  "user-agent": `petstore-webhooks/${version}`,
  "accept-encoding": "identity",
} as const;

export interface Message {
  readonly url: string;
  /** Those that are the message's own: its id, time and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** What an attempt needs of the world around it. */
export interface Network {
  readonly policy: AddressPolicy;
  readonly clock: Clock;
  /** Gives all addresses of a name; rejects or gives none where it has none. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Gives a signal that is aborted after so many milliseconds. */
  readonly expire: (milliseconds: number) => AbortSignal;
  /** Certificates, as PEM, of the authorities that are trusted; those of the system where it is absent. */
  readonly authorities?: string;
}

/** The network of this machine. */
export function systemNetwork(policy: AddressPolicy, clock: Clock): Network {
  return {
    policy,
    clock,
    // Without threads, which the look-ups of `node:dns` hold: names of a silent server would stop files as well.
    resolve: async (name) => (await Bun.dns.lookup(name, { backend: "c-ares" })).map(({ address }) => address),
    expire: (milliseconds) => AbortSignal.timeout(milliseconds),
  };
}

/**
 * Sends a message once. Where to is decided on the address that is connected to, whatever the name leads to later. A
 * process makes at most 256 requests with `fetch` at a time; more of them wait while their time runs, so that callers
 * have to stay below.
 */
export async function send(message: Message, network: Network): Promise<SendResult> {
  const begin = network.clock.monotonic();
  const nothing = { failure: undefined, status: undefined, excerpt: undefined, retryAfter: undefined };
  const outcome = await attempt(message, network, network.expire(TIME_LIMIT));
  return { ...nothing, ...outcome, duration: network.clock.monotonic() - begin };
}

type Outcome = Partial<Omit<SendResult, "duration">>;

async function attempt(message: Message, network: Network, signal: AbortSignal): Promise<Outcome> {
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
    const response = await firstResponse(url, addresses.slice(0, MOST_TRIED), message, network, signal);
    return await outcomeOf(response, network.clock);
  } catch (error) {
    return { failure: signal.aborted ? "timed_out" : failureOf(error) };
  }
}

/** The addresses of a host, IPv4 first: not every machine has a way to IPv6. */
async function addressesOf(host: string, { resolve }: Network, signal: AbortSignal): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const found = await unlessAborted(
    resolve(host).catch(() => []),
    signal,
  );
  return found.toSorted((one, other) => isIP(one) - isIP(other));
}

/** The response of the first address to which a connection can be made. */
async function firstResponse(
  url: URL,
  addresses: readonly string[],
  message: Message,
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
 * Sends the message to this address, in the name of the URL's host. With `fetch`, which reads responses on a thread of
 * its own: with `node:http`, a receiver that sends interim responses (103) without end stops the event loop.
 */
function connect(url: URL, address: string, { headers, body }: Message, network: Network, signal: AbortSignal) {
  const target = new URL(url);
  target.hostname = isIPv6(address) ? `[${address}]` : address;
  const host = hostOf(url);
  return fetch(target, {
    method: "POST",
    headers: { ...headers, ...sameHeaders, host: url.host },
    body,
    signal,
    redirect: "manual",
    proxy: false, // a proxy of the environment would look the name up again
    keepalive: false, // a connection belongs to one attempt, and is closed where the response is cut
    decompress: false,
    tls: {
      rejectUnauthorized: true, // whatever the environment says
      ...(isIP(host) === 0 && { serverName: host }), // the certificate has to be for this name
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
    retryAfter: failure && readRetryAfter(response.headers.get("retry-after"), clock.now()),
  };
}

const neverConnected = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]);

/** What an error of `fetch` means. OpenSSL names its errors `CERT_HAS_EXPIRED`; Bun those of HTTP `MalformedResponse`. */
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
