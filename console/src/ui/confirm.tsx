import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Action } from "../service/action.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { FormDialog } from "./form/form-dialog.tsx";

/** Something that is done only after the user has agreed. */
interface Question {
  readonly title: ComponentChildren;
  /** What will be paid back or lost. */
  readonly text: ComponentChildren;
  /** The label of the button. */
  readonly submit: string;
  readonly run: () => void;
}

const asked = new Watchable<Question | undefined>(undefined);

/** Asks once, then runs. */
export const askFirst = (question: Question): void => asked.set(question);

/** The question that is open, wherever it was asked. */
export function Confirm() {
  const question = useWatchable(asked);
  const close = () => asked.set(undefined);
  useEffect(() => close, []);
  if (!question) return null;
  const { text, run, ...shown } = question;
  return (
    <FormDialog fields={[]} action={once(run)} isFinal onClose={close} {...shown}>
      {text}
    </FormDialog>
  );
}

/** What begins at once, and tells itself how it ends. */
const once = (run: () => void): Action => ({
  run: async () => {
    run();
    return true;
  },
  isRunning: false,
  error: undefined,
  clearError() {},
});
