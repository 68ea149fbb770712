// The key is stored only in this tab's session storage, which ends with the tab. A new tab asks the other tabs for it.

import { baseUrl } from "../router.tsx";

/** With the base address, because other services may share the origin. */
const NAME = `petstore-key ${baseUrl}`;
/** How long a new tab waits for the others, in milliseconds. */
const TAB_TIMEOUT = 200;

type Message =
  | { readonly kind: "ask" }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "forget"; readonly key: string | undefined };

const tabs = new BroadcastChannel(NAME);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it reaches only this origin
const tell = (message: Message) => tabs.postMessage(message);

// A link with a key that is opened in this tab changes only the fragment: the page must be loaded again.
addEventListener("hashchange", () => location.hash.startsWith("#key=") && location.reload());

/** The key in the link that opened the page, which is removed from the address at once, or else that of this tab. */
function ownKey(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1)).get("key");
  if (fragment === null) return sessionStorage.getItem(NAME) ?? undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return fragment.trim();
}

/** Calls `found` with the key of this tab, or else one that another tab sends. `none` is called if there is none yet. */
export function findKey(found: (key: string) => void, none: () => void): void {
  const own = ownKey();
  if (own) return found(own);
  const timer = setTimeout(none, TAB_TIMEOUT);
  const listen = ({ data }: MessageEvent<Message>) => {
    if (data.kind !== "key") return;
    tabs.removeEventListener("message", listen);
    clearTimeout(timer);
    found(data.key); // a busy tab may answer late
  };
  tabs.addEventListener("message", listen);
  tell({ kind: "ask" });
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

/** Signs all tabs out, or those with the key. */
export function forgetKey(key?: string): void {
  sessionStorage.removeItem(NAME);
  tell({ kind: "forget", key });
}

/** Answers new tabs, and calls `signOut` when another tab signs out. */
export function answerTabs(signOut: () => void): void {
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const key = sessionStorage.getItem(NAME);
    if (data.kind === "ask" && key) tell({ kind: "key", key });
    if (data.kind === "forget" && key && (data.key ?? key) === key) {
      sessionStorage.removeItem(NAME);
      signOut();
    }
  });
}
