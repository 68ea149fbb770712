import type { RateLimit } from "petstore-client";
import { Store } from "../store.ts";

/** The reason why requests are waiting, if they are. */
export type Hindrance =
  | { readonly kind: "lost" }
  | { readonly kind: "limited" | "banned" | "unavailable"; readonly message: string; readonly until: number };

export const hindrance = new Store<Hindrance | undefined>(undefined);
/** The window with the least remaining, from the last response. */
export const limits = new Store<RateLimit | undefined>(undefined);

/** The assumed duration of a hindrance without a time, in seconds. */
const SOON = 5;

/** Sends a request, and records whether the service was reached and its limit headers. */
export async function watchedFetch(request: Request): Promise<Response> {
  try {
    // A deletion that is sent when the user leaves the page outlives it.
    const response = await fetch(request, { keepalive: request.method === "DELETE" });
    note(response);
    return response;
  } catch (error) {
    if (!request.signal.aborted) hindrance.set({ kind: "lost" });
    throw error;
  }
}

function note(response: Response): void {
  const { status, headers } = response;
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number];
  if (limit > 0) limits.set({ limit, remaining, reset: new Date(reset * 1000) });
  if (status === 429 || status === 503) void explain(response.clone());
  else if (hindrance.value?.kind === "lost" || status < 400) hindrance.set(undefined);
}

async function explain(response: Response): Promise<void> {
  const body = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
  if (body.code === "webhooks_unavailable") return; // the page of webhooks shows it; other requests do not wait
  const seconds = Number(response.headers.get("retry-after") ?? SOON);
  const kind = body.code === "key_banned" ? "banned" : response.status === 429 ? "limited" : "unavailable";
  hindrance.set({ kind, message: body.message ?? "", until: Date.now() + seconds * 1000 });
}
