import { useEffect } from "preact/hooks";
import { explain } from "../service/explain.ts";
import { reportRequestError } from "../service/query.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { MESSAGE_TIME } from "./message-time.ts";

/** A short message at the edge of the page. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad?: boolean;
  readonly undo?: (() => void) | undefined;
}

let lastId = 0;
const toasts = new Watchable<readonly Toast[]>([]);
const add = (toast: Omit<Toast, "id">) => toasts.set([...toasts.value, { ...toast, id: ++lastId }]);
const remove = (toast: Toast) => toasts.set(toasts.value.filter((other) => other !== toast));

/** Reports that something was done. With `undo` it can be undone. */
export function say(text: string, undo?: () => void): void {
  add({ text, undo });
}

/** Reports a failure of something that is no longer on the screen. */
export function sayFailure(what: string, error: unknown): void {
  const { message, advice } = explain(error);
  reportRequestError(error);
  add({ text: `${what}: ${message} ${advice}`, isBad: true });
}

export function Toasts() {
  const all = useWatchable(toasts);
  return (
    <div class="toasts" role="status">
      {all.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastLine({ toast }: { readonly toast: Toast }) {
  useEffect(() => {
    if (toast.isBad) return undefined;
    const timer = setTimeout(() => remove(toast), MESSAGE_TIME);
    return () => clearTimeout(timer);
  }, [toast]);
  const undo = () => {
    remove(toast);
    toast.undo?.();
  };
  return (
    <div class={toast.isBad ? "toast bad" : "toast"}>
      <span>{toast.text}</span>
      {toast.undo && (
        <button type="button" class="link" onClick={undo}>
          Undo
        </button>
      )}
      <button type="button" class="quiet icon" onClick={() => remove(toast)} aria-label="Dismiss">
        ×
      </button>
    </div>
  );
}
