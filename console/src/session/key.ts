// The key is stored only in this tab's session storage, which ends with the tab. A new tab asks the other tabs for it.
// Where the browser stores nothing, the key is only in memory.

import { baseUrl } from "../router.tsx";
import { uniqueText } from "../service/unique-text.ts";

/** With the base address, because other services may share the origin. */
const NAME = `petstore-key ${baseUrl}`;
/** How long a new tab waits for the others, in milliseconds. */
const TAB_TIMEOUT = 200;

type Message =
  | { readonly kind: "ask" }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "forget"; readonly key: string | undefined };

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

/** The key with which this tab is signed in. */
let held: string | undefined;
/**
 * All tabs that sign in until one signs out have the same text, which is no secret. A key whose text is not the one in the
 * local storage has been signed out, perhaps while its tab showed another page or was closed.
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
 * Calls `use` with the key of this tab, or else one that another tab sends, or nothing if there is none. A busy tab may
 * send its key later: then `use` is called again.
 */
export function findKey(use: (key?: string) => void): void {
  const [ownRound, own] = attempt(() => sessionStorage.getItem(NAME))?.split(" ") ?? [];
  round = ownRound;
  if (own && !isSignedOut()) return use(own);
  forgetHere();
  if (!tabs || !currentRound()) return use();
  const timer = setTimeout(use, TAB_TIMEOUT);
  const listen = ({ data }: MessageEvent<Message>) => {
    if (data.kind !== "key") return;
    tabs.removeEventListener("message", listen);
    clearTimeout(timer);
    use(data.key);
  };
  tabs.addEventListener("message", listen);
  tell({ kind: "ask" });
}

export function keepKey(key: string): void {
  held = key;
  attempt(() => {
    round = currentRound() ?? uniqueText();
    localStorage.setItem(NAME, round);
    sessionStorage.setItem(NAME, `${round} ${key}`);
  });
}

function forgetHere(): void {
  held = undefined;
  attempt(() => sessionStorage.removeItem(NAME));
}

/** Signs all tabs out, or those with the key. */
export function forgetKey(key?: string): void {
  forgetHere();
  if (!key) attempt(() => localStorage.removeItem(NAME));
  tell({ kind: "forget", key });
}

/** Answers new tabs, and calls `signOut` when another tab signs out, or has done so while this one was away. */
export function answerTabs(signOut: () => void): void {
  const leave = () => {
    if (!held) return;
    forgetHere();
    signOut();
  };
  tabs?.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "ask" && held && !isSignedOut()) tell({ kind: "key", key: held });
    if (data.kind === "forget" && (data.key ?? held) === held) leave();
  });
  addEventListener("storage", ({ key, newValue }) => (key ?? NAME) === NAME && newValue === null && leave());
  addEventListener("pageshow", ({ persisted }) => persisted && isSignedOut() && leave());
}
