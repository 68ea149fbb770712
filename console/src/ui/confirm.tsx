import type { ComponentChildren } from "preact";
import type { Action } from "../service/action.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  readonly action: Action;
  /** The label of the button. */
  readonly submit: string;
  /** Shows the result instead of the question. */
  readonly staysOpen?: boolean;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ title, children, action, submit, staysOpen, onClose }: ConfirmProps) {
  const confirm = async () => {
    if ((await action.run()) && !staysOpen) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="intro">{children}</p>
      <ErrorNote error={action.error} />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="bad" disabled={action.isRunning} onClick={() => void confirm()}>
          {submit}
        </button>
      </footer>
    </Dialog>
  );
}
