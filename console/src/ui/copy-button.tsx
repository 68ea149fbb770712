import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How long the button shows that it has copied, in milliseconds. */
const FEEDBACK_TIME = 1_500;

interface CopyButtonProps {
  readonly text: string;
  readonly what: string;
  /** True if the focus is on it as soon as it is shown. */
  readonly takesFocus?: boolean;
}

export function CopyButton({ text, what, takesFocus }: CopyButtonProps) {
  const [isDone, setDone] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (takesFocus) button.current?.focus();
  }, []);
  if (!("clipboard" in navigator)) return null; // browsers do not provide it to pages without TLS
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), FEEDBACK_TIME);
  };
  return (
    <button ref={button} type="button" class="link" onClick={copy} aria-label={`Copy the ${what}`}>
      {isDone ? "Copied" : "Copy"}
    </button>
  );
}
