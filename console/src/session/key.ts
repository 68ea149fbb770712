// The key is stored only in this tab's session storage, which ends with the tab. A new tab asks the other tabs for it.

const NAME = "petstore-key";
/** How long a new tab waits for the others, in milliseconds. */
const OTHERS = 200;

type Message = { readonly kind: "ask" } | { readonly kind: "key"; readonly key: string } | { readonly kind: "forget" };

const tabs = new BroadcastChannel("petstore-console");
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it reaches only this origin
const tell = (message: Message) => tabs.postMessage(message);

/** The key in the link that opened the page, which is removed from the address at once, or else that of this tab. */
function ownKey(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1)).get("key");
  if (fragment === null) return sessionStorage.getItem(NAME) ?? undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return fragment.trim();
}

/** The key of this tab, or else one that another tab sends. */
export function findKey(): Promise<string | undefined> {
  const own = ownKey();
  if (own) return Promise.resolve(own);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), OTHERS);
    tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      if (data.kind !== "key") return;
      clearTimeout(timer);
      resolve(data.key);
    });
    tell({ kind: "ask" });
  });
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

/** Signs all tabs out. */
export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
  tell({ kind: "forget" });
}

/** Answers new tabs, and calls `signOut` when another tab signs out. */
export function answerTabs(signOut: () => void): void {
  tabs.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    const key = sessionStorage.getItem(NAME);
    if (data.kind === "ask" && key) tell({ kind: "key", key });
    if (data.kind === "forget" && key) {
      sessionStorage.removeItem(NAME);
      signOut();
    }
  });
}
