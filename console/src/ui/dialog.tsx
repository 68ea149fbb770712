import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { closeOnBack } from "../router.tsx";
import { Icon } from "./icon.tsx";
import { useId } from "./use-id.ts";

interface DialogProps {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  /** True if Escape, a click outside it and going back do not close it, so that a secret is not lost. */
  readonly ignoresEscape?: boolean;
  readonly children: ComponentChildren;
}

/** Moves the focus to what is used first: the first control of a form, or what says so itself. */
export function focusFirst(element: Element | null): void {
  element?.querySelector<HTMLElement>("form :is(input, select), [data-first]")?.focus();
}

/** A modal dialog. Escape and going back close it, and the focus returns to where it was. */
export function Dialog({ title, onClose, ignoresEscape, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const latest = useRef(onClose);
  latest.current = onClose;
  useLayoutEffect(() => {
    const stay = closeOnBack(() => ignoresEscape || latest.current());
    const before = document.activeElement as HTMLElement | null;
    const { pathname } = location;
    const dialog = element.current;
    dialog?.showModal();
    if (ignoresEscape) onbeforeunload = () => false; // before the page closes, the browser asks
    focusFirst(dialog);
    return () => {
      stay();
      onbeforeunload = null;
      dialog?.close(); // an open dialog keeps the focus
      const isThere = before?.isConnected && before !== document.body && location.pathname === pathname;
      (isThere ? before : document.getElementById("main"))?.focus({ preventScroll: true });
    };
  }, []);
  // On the dialog itself: Escape, or a click outside it. The `cancel` of a file input inside it bubbles.
  const leave = (event: Event) => !ignoresEscape && event.target === element.current && onClose();
  const cancel = (event: Event) => {
    event.preventDefault();
    leave(event);
  };
  return (
    <dialog ref={element} tabIndex={-1} aria-labelledby={id} onCancel={cancel} onMouseDown={leave}>
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet only" onClick={onClose} aria-label="Close">
            <Icon of="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
