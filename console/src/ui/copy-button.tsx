import { useState } from "preact/hooks";

/** How long the button shows that it has copied, in milliseconds. */
const FEEDBACK_TIME = 1_500;

interface CopyButtonProps {
  readonly text: string;
  readonly what: string;
  /** True if it has the focus when its dialog opens. */
  readonly takesFocus?: boolean;
}

export function CopyButton({ text, what, takesFocus }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  if (!("clipboard" in navigator)) return null; // browsers do not provide it to pages without TLS
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), FEEDBACK_TIME);
  };
  return (
    <button type="button" class="link" data-first={takesFocus} onClick={copy} aria-label={`Copy the ${what}`}>
      {isDone ? "Copied" : "Copy"}
    </button>
  );
}
