// The keys are stored only in this tab's session storage, which ends with the tab. A new tab asks the other tabs for them.
// Where the browser stores nothing, they are only in memory.

import { baseUrl } from "../router.tsx";
import { uniqueText } from "../service/unique-text.ts";
import { Watchable } from "../watchable.ts";

/** With the base address, because other services may share the origin. */
const NAME = `petstore-key ${baseUrl}`;
/** How long a new tab waits for the others, in milliseconds. */
const TAB_TIMEOUT = 200;

/** A key that was used to sign in, and what tells its shop from others without a request. */
export interface HeldKey {
  readonly secret: string;
  /** Names the shop in addresses. */
  readonly shop: string;
  readonly name: string;
  readonly isLive: boolean;
}

type Message =
  | { readonly kind: "ask" }
  | { readonly kind: "keys"; readonly keys: readonly HeldKey[] }
  | { readonly kind: "forget"; readonly secret: string | undefined };

/** Does what a browser may refuse: users block the storage, it can be full, and some browsers have no channels. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

const tabs = attempt(() => new BroadcastChannel(NAME));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it reaches only this origin
const tell = (message: Message) => tabs?.postMessage(message);

/** The keys of the shops between which this tab can switch, one for each shop. */
export const heldKeys = new Watchable<readonly HeldKey[]>([]);
/**
 * All tabs that sign in until one signs out have the same text, which is no secret. Keys whose text is not the one in the
 * local storage have been signed out, perhaps while their tab showed another page or was closed.
 */
let round: string | undefined;

const currentRound = () => attempt(() => localStorage.getItem(NAME)) ?? undefined;
const isSignedOut = () => round === undefined || round !== currentRound();

/** The key in the link that was opened. It leaves the address, and so the history of the tab, at once. */
export function takeLinkedKey(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return key.trim();
}

/**
 * Calls `use` with the keys of this tab, or else those that another tab sends, or none. A busy tab may send its keys
 * later: then `use` is called again.
 */
export function findKeys(use: (keys: readonly HeldKey[]) => void): void {
  const [ownRound, keys = []] =
    attempt(() => JSON.parse(sessionStorage.getItem(NAME) ?? "[]") as [string?, HeldKey[]?]) ?? [];
  round = ownRound;
  if (keys.length > 0 && !isSignedOut()) return use(keys);
  hold([]);
  if (!tabs || !currentRound()) return use([]);
  const timer = setTimeout(use, TAB_TIMEOUT, []);
  const listen = ({ data }: MessageEvent<Message>) => {
    if (data.kind !== "keys") return;
    tabs.removeEventListener("message", listen);
    clearTimeout(timer);
    use(data.keys);
  };
  tabs.addEventListener("message", listen);
  tell({ kind: "ask" });
}

/** Adds keys, each in the place of the one of the same shop. */
export function keepKeys(keys: readonly HeldKey[]): void {
  round = attempt(() => currentRound() ?? uniqueText());
  attempt(() => localStorage.setItem(NAME, round as string));
  hold([...new Map([...heldKeys.value, ...keys].map((key) => [key.shop, key])).values()]);
}

function hold(keys: readonly HeldKey[]): void {
  heldKeys.set(keys);
  attempt(() =>
    keys.length > 0 ? sessionStorage.setItem(NAME, JSON.stringify([round, keys])) : sessionStorage.removeItem(NAME),
  );
}

const forgetHere = (secret?: string) => hold(heldKeys.value.filter((key) => secret && key.secret !== secret));

/** Signs all tabs out, or makes them forget one key. */
export function forgetKey(secret?: string): void {
  forgetHere(secret);
  if (!secret) attempt(() => localStorage.removeItem(NAME));
  tell({ kind: "forget", secret });
}

/**
 * Answers new tabs, and calls `forgotten` when another tab signs out or forgets the key, or has signed out while this one
 * was away.
 */
export function answerTabs(forgotten: (secret?: string) => void): void {
  const forget = (secret?: string) => {
    const before = heldKeys.value;
    forgetHere(secret);
    if (heldKeys.value.length < before.length) forgotten(secret);
  };
  tabs?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask" && heldKeys.value.length > 0 && !isSignedOut())
      tell({ kind: "keys", keys: heldKeys.value });
    if (data.kind === "forget") forget(data.secret);
  });
  addEventListener("storage", ({ key, newValue }) => (key ?? NAME) === NAME && newValue === null && forget());
  addEventListener("pageshow", ({ persisted }) => persisted && isSignedOut() && forget());
}
