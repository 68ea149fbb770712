import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useAction } from "../service/action.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { FormDialog } from "./form/form-dialog.tsx";

/** Something that is done only after the user has agreed. */
interface Question {
  readonly title: ComponentChildren;
  /** What will be paid back or lost. */
  readonly text: ComponentChildren;
  /** The label of the button. */
  readonly submit: string;
  readonly run: () => unknown;
}

const asked = new Watchable<Question | undefined>(undefined);

/** Asks once, then runs. If that fails, the question stays, and says why. */
export const askFirst = (question: Question): void => asked.set(question);

/** The question that is open, wherever it was asked. */
export function Confirm() {
  const question = useWatchable(asked);
  const close = () => asked.set(undefined);
  useEffect(() => close, []);
  return question ? <Asked of={question} close={close} /> : null;
}

function Asked({ of, close }: { readonly of: Question; readonly close: () => void }) {
  const { text, run, ...shown } = of;
  const action = useAction(async () => run());
  return (
    <FormDialog fields={[]} action={action} isFinal onClose={close} {...shown}>
      <p class="intro">{text}</p>
    </FormDialog>
  );
}
