import { useLayoutEffect, useRef } from "preact/hooks";
import { explain } from "../service/explain.ts";
import { logNumber } from "../service/live.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { Icon } from "./icon.tsx";
import { MESSAGE_TIME } from "./message-time.ts";
import { useShortcut } from "./shortcuts.tsx";

/** A short message at the edge of the page. */
interface Toast {
  readonly text: string;
  readonly isBad?: boolean;
  readonly undo?: (() => void) | undefined;
  /** Called when it can no longer be undone. */
  readonly onEnd?: (() => unknown) | undefined;
  /** The animal that it is about, if the next message about it takes its place. */
  readonly about?: unknown;
}

const toasts = new Watchable<readonly Toast[]>([]);
/** What can still be undone or has failed stays beside a newer message, unless both are about the same animal. */
const add = (toast: Toast) => {
  const stays = ({ isBad, undo, about }: Toast) => isBad || (undo && (about === undefined || about !== toast.about));
  toasts.set([...toasts.value.filter(stays), toast]);
};
const remove = (toast: Toast, then = toast.onEnd) => {
  toasts.set(toasts.value.filter((other) => other !== toast));
  then?.();
};

// After a reset of the sandbox, an undo would change other animals.
logNumber.watch(() => toasts.set(toasts.value.filter(({ undo }) => !undo)));

/** Reports that something was done. With `undo` it can be undone until `onEnd` is called. */
export function say(text: string, undo?: () => void, onEnd?: () => unknown, about?: unknown): void {
  add({ text, undo, onEnd, about });
}

/** Reports a failure of something that is no longer on the screen. What ended with its session is none. */
export function sayFailure(what: string, error: unknown): void {
  if ((error as Error).name === "AbortError") return;
  const { message, advice } = explain(error);
  add({ text: `${what}: ${message} ${advice}`, isBad: true });
}

export function Toasts() {
  const all = useWatchable(toasts);
  const last = all.findLast(({ undo }) => undo);
  useShortcut("u", "Undo", last && (() => remove(last, last.undo)));
  useLayoutEffect(
    () => () => {
      dispatchEvent(new Event("pagehide")); // signing out also leaves the page
      toasts.set([]); // the next user sees none of them
    },
    [],
  );
  return (
    <div class="toasts" role="status">
      {all.map((toast) => (
        <ToastLine key={toast} of={toast} />
      ))}
    </div>
  );
}

function ToastLine({ of: toast }: { readonly of: Toast }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (toast.isBad) return undefined;
    // A message that is being read, or whose button has the focus, stays.
    const end = () => element.current?.matches(":hover, :focus-within") || remove(toast);
    const timer = setInterval(end, MESSAGE_TIME);
    return () => clearInterval(timer);
  }, []);
  return (
    <div ref={element} class={toast.isBad ? "toast bad" : "toast"}>
      <span>{toast.text}</span>
      {toast.undo && (
        <button type="button" class="link" onClick={() => remove(toast, toast.undo)}>
          <span>Undo</span> <kbd class="wide">U</kbd>
        </button>
      )}
      <button type="button" class="quiet only" onClick={() => remove(toast)} aria-label="Dismiss">
        <Icon of="close" />
      </button>
    </div>
  );
}
