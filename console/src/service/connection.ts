import type { FetchInit, RateLimit } from "petstore-client";
import { Watchable } from "../watchable.ts";

/** Why requests wait: no connection, a used-up limit, a banned key or an unavailable service. */
interface Interruption {
  readonly kind: "lost" | "limited" | "banned" | "unavailable";
  readonly message?: string;
  readonly code?: string;
  readonly until?: number;
  /** If it stops only the requests that are exempt from the shop's limits: the name of those that it was found with. */
  readonly exemption?: string | undefined;
}

export const interruption = new Watchable<Interruption | undefined>(undefined);
/** The window with the least remaining, from the last response. */
export const tightestWindow = new Watchable<RateLimit | undefined>(undefined);

/** How long an interruption lasts if the response has no `Retry-After`, in seconds. */
const DEFAULT_WAIT = 5;

/** A request whose response the browser does not store: who uses it next could read that. */
export const uncached = (url: string, init: FetchInit) => new Request(url, { ...init, cache: "no-store" });

/** Sends a request. Records the limit headers of its response, and whether requests must wait. */
export async function watchedFetch(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    recordResponse(request, response);
    return response;
  } catch (error) {
    if (!request.signal.aborted)
      interruption.set({ kind: "lost", message: "The data on this page may be out of date." });
    throw error;
  }
}

/**
 * What a request is about that succeeds even while the key is limited or banned, because it has its own limit or none:
 * `sandbox` (a reset or fast-forward), `key`, `usage` or `requests`. Undefined for all other requests.
 */
export const exemptionOf = ({ url }: Request) => /\/v1\/(sandbox(?=\/)|key|usage|requests)\b/.exec(url)?.[1];

let lastSecret: string | undefined;

/**
 * Responses that the next client gets without a request: one 429 if an earlier client of the same key was told to wait
 * and that time is not over. The new client then waits too.
 */
export function firstResponsesOf(secret: string): Response[] {
  if (secret !== lastSecret) interruption.set(undefined);
  lastSecret = secret;
  const { value } = interruption;
  const seconds = Math.ceil((Number(value?.until) - Date.now()) / 1000);
  return seconds > 0 && !value?.exemption
    ? [Response.json(value, { status: 429, headers: { "Retry-After": `${seconds}` } })]
    : [];
}

function recordResponse(request: Request, response: Response): void {
  const { status, headers } = response;
  const exemption = exemptionOf(request);
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`)),
  ) as [number, number, number];
  if (limit > 0 && exemption !== "sandbox") tightestWindow.set({ limit, remaining, reset: new Date(reset * 1000) });
  const { value } = interruption;
  if (status === 429 || status === 503) void recordInterruption(response.clone(), exemption);
  else if (value?.kind === "lost") interruption.set(undefined);
  else if (status < 400 && (value?.kind === "unavailable" || value?.exemption === exemption))
    interruption.set(undefined);
}

async function recordInterruption(response: Response, exemption: string | undefined): Promise<void> {
  const body = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
  if (/^webhooks_|streams/.test(`${body.code}`)) return; // other requests work
  const seconds = Number(response.headers.get("retry-after") ?? DEFAULT_WAIT);
  const kind = body.code === "key_banned" ? "banned" : response.status === 429 ? "limited" : "unavailable";
  const until = Date.now() + seconds * 1000;
  interruption.set({ ...body, kind, until, exemption: kind === "limited" ? exemption : undefined });
}
