import { type CurrentKey, type FetchInit, type IssuedApiKey, Petstore, PetstoreError } from "petstore-client";
import { type OperationName, scopes } from "../generated/contract.ts";
import { baseUrl, currentPlace, go, nameShop, type Place } from "../router.tsx";
import { exemptionOf, firstResponsesOf, uncached, watchedFetch } from "../service/connection.ts";
import { noteStream } from "../service/live.ts";
import { clearCache } from "../service/query.ts";
import { sayFailure } from "../ui/toasts.tsx";
import { useWatchable, Watchable } from "../watchable.ts";
import { answerTabs, findKeys, forgetKey, type HeldKey, heldKeys, keepKeys, takeLinkedKey } from "./key.ts";

/** The user is signed in with a key. */
export interface OpenSession {
  readonly kind: "open";
  readonly petstore: Petstore;
  readonly key: CurrentKey;
  /** The text of the key. It is shown nowhere. */
  readonly secret: string;
}

type Session =
  | OpenSession
  | { readonly kind: "starting" }
  /** The user is not signed in. `error` is why the last key was refused. */
  | { readonly kind: "closed"; readonly error?: PetstoreError | undefined };

export const session = new Watchable<Session>({ kind: "starting" });

/** How long the first rendering waits for the first query of its page, in milliseconds. */
const FIRST_QUERY_TIME = 200;

/** How long the check of a key may take, in milliseconds. */
const CHECK_TIMEOUT = 5_000;

let sendFirstQuery: (petstore: Petstore) => Promise<unknown> | undefined;

/** The key of a link, while the user is signed in with another one and has not yet chosen. */
export const offeredKey = new Watchable<{ readonly secret: string; readonly key: CurrentKey } | undefined>(undefined);

/** Signs in with the key of a link. A session with another key stays, because the sender could read what the user enters. */
async function followLink(secret: string): Promise<void> {
  const { value } = session;
  if (value.kind !== "open") return signIn(secret);
  if (value.secret === secret) return undefined;
  try {
    refuseMalformed(secret);
    const petstore = new Petstore({ key: secret, baseUrl, fetch: (...given) => fetch(uncached(...given)) });
    const key = await petstore.getCurrentKey({ timeout: CHECK_TIMEOUT });
    if (session.value === value) offeredKey.set({ secret, key });
  } catch (error) {
    sayFailure("The key of the link was not used", error);
  }
}

/** Names the shop of a key in addresses. */
export const shopOf = ({ account, mode }: CurrentKey): string => `${account.id}-${mode}`;

/** The key of the shop that the address names. One without a name is of the time when the first shop was the only one. */
const keyHere = (keys: readonly HeldKey[]) => keys.find(({ shop }) => shop === currentPlace().shop) ?? keys[0];

addEventListener("popstate", () => {
  const secret = keyHere(heldKeys.value)?.secret;
  const { value } = session;
  if (value.kind === "open" && secret && secret !== value.secret) restart(secret);
});

addEventListener("hashchange", () => {
  const linked = takeLinkedKey();
  if (linked) void followLink(linked);
});

/**
 * Signs in with the key of the tab, of another one or of a link. Resolves when the user is signed in, or must sign in.
 * `send` sends the first query of the page, at the same time as the request that checks the key.
 */
export function start(send: typeof sendFirstQuery): Promise<void> {
  const linked = takeLinkedKey();
  sendFirstQuery = send;
  answerTabs((secret) => {
    const { value } = session;
    if (!secret || (value.kind === "open" && value.secret === secret)) close();
  });
  return new Promise((resolve) => {
    const use = async (keys: readonly HeldKey[]) => {
      const { kind } = session.value;
      if (kind === "open" || (kind === "starting" && current)) return; // the user was faster
      const key = keyHere(keys);
      if (key) keepKeys(keys);
      if (key) await signIn(key.secret);
      else if (!linked) close();
      if (linked) await followLink(linked);
      resolve();
    };
    findKeys((keys) => void use(keys));
  });
}

/** Aborted when the user signs out, or in again: what is still in flight or waits then ends, and reaches nobody. */
let current: AbortController | undefined;

/**
 * Returns the `fetch` of one sign-in. It sends the key that the session has now (a rotation changes it). The first request
 * that is not exempt gets the response of `firstResponsesOf`, if there is one, and is not sent.
 */
function fetchFor(ended: AbortSignal, secret: string): (url: string, init: FetchInit) => Promise<Response> {
  const firstResponses = firstResponsesOf(secret);
  return async (url, init) => {
    const request = uncached(url, { ...init, signal: AbortSignal.any([init.signal, ended]) });
    const key = keyOf(session.value) ?? secret; // the session may have a newer key than its client
    request.headers.set("Authorization", `Bearer ${key}`);
    const response = (!exemptionOf(request) && firstResponses.pop()) || (await watchedFetch(request));
    if (response.status !== 401 || keyOf(session.value) !== key) return response;
    // The service no longer accepts the key: it was revoked, or has expired.
    const { code, message } = (await response.json()) as { readonly code: string; readonly message: string };
    ended.throwIfAborted();
    const requestId = response.headers.get("x-request-id") ?? undefined;
    forgetKey(key);
    close(new PetstoreError(message, { code, operation: "", status: 401, requestId }));
    throw ended.reason;
  };
}

const keyOf = (value: Session) => (value.kind === "open" ? value.secret : undefined);

function refuseMalformed(secret: string): void {
  if (/^[!-~]+$/.test(secret)) return;
  throw new PetstoreError("The key is malformed.", { code: "", operation: "", status: 401 });
}

/** Signs in with a key if the service knows it. */
export async function signIn(secret: string): Promise<void> {
  current?.abort();
  current = new AbortController();
  const { signal } = current;
  session.set({ kind: "starting" });
  try {
    refuseMalformed(secret);
    const petstore = new Petstore({
      key: secret,
      baseUrl,
      fetch: fetchFor(signal, secret),
      onRequest: () => signal.throwIfAborted(), // the client repeats no request of a session that has ended
      onResponse: noteStream,
    });
    const firstQuery = sendFirstQuery(petstore);
    const key = await petstore.getCurrentKey({ timeout: CHECK_TIMEOUT });
    await Promise.race([firstQuery, new Promise((resolve) => setTimeout(resolve, FIRST_QUERY_TIME))]);
    if (!signal.aborted) open({ kind: "open", petstore, key, secret });
  } catch (error) {
    if (signal.aborted) return;
    if ((error as PetstoreError).status === 401) forgetKey(secret);
    close(error as PetstoreError);
  }
}

function open(opened: OpenSession): void {
  const { key, secret } = opened;
  const shop = shopOf(key);
  keepKeys([{ secret, shop, name: key.account.name, isLive: key.mode === "live" }]);
  if (!isElsewhere(currentPlace())) nameShop(heldKeys.value.length > 1 ? shop : undefined);
  session.set(opened);
}

/** Replaces the key of the session by one that may do the same. The page and its dialogs stay. */
export function continueWith({ id, hint, expiresAt, key: secret }: IssuedApiKey): void {
  const before = session.value as OpenSession;
  open({ ...before, key: { ...before.key, id, hint, expiresAt }, secret });
}

export function signOut(): void {
  forgetKey();
  close();
}

/** Replaces the session of this tab by one with another key. */
export function restart(secret: string): void {
  close();
  void signIn(secret);
}

/** True for an address that names a shop of which this tab has no key. */
const isElsewhere = ({ shop }: Place) => shop !== undefined && heldKeys.value.every((held) => held.shop !== shop);

/** The list to which a page belongs, because an animal of one shop is not in another. */
const listOf = ({ path }: Place) => /^\/[^/]*/.exec(path)?.[0] ?? "/";

/** Goes to another shop of this tab, and there to the same list. */
export function switchTo({ secret, shop }: HeldKey): void {
  go(listOf(currentPlace()), { shop });
  restart(secret);
}

/** Shows the page on which a key is entered. The keys of other shops stay. */
export function addShop(): void {
  const place = currentPlace();
  if (!isElsewhere(place)) go(listOf(place));
  close();
}

function close(error?: PetstoreError): void {
  current?.abort();
  clearCache();
  offeredKey.set(undefined);
  session.set({ kind: "closed", error });
}

/** The session, for pages, which are rendered only while the user is signed in. */
export function useSession(): OpenSession {
  return useWatchable(session) as OpenSession;
}

/** Whether the key may use an operation. What it may not use is not shown. */
export function useMay(): (operation: OperationName) => boolean {
  const { key } = useSession();
  return (operation) => permits(key.scopes, operation);
}

/** True if a key with these scopes may use the operation. `scopes` lists all operations except those that need `write`. */
export function permits(held: readonly string[], operation: OperationName): boolean {
  const [needed = "write"] = Object.entries(scopes).find(([, names]) => names.includes(operation)) ?? [];
  return needed === "" || needed.split(" ").every((scope) => held.includes(scope));
}
