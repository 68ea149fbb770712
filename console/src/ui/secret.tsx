import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

/** How many characters fit into a line of a telephone. */
const LINE = 28;

interface SecretProps {
  readonly text: string;
  readonly what: string;
  readonly onDone: () => void;
  /** What else holds it. */
  readonly children?: ComponentChildren;
}

/**
 * Shows a secret that is not shown again, in as many lines as it needs. The focus is on the button that copies it; a click
 * selects all of it, for browsers that do not allow a page to copy.
 */
export function Secret({ text, what, onDone, children }: SecretProps) {
  return (
    <>
      <p class="intro">Copy the {what} now and store it in a safe place. It is not shown again.</p>
      <p class="secret">
        <textarea
          aria-label={`The ${what}`}
          readOnly
          rows={Math.ceil(text.length / LINE)}
          value={text}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton text={text} what={what} takesFocus />
      </p>
      {children}
      <footer>
        <button type="button" class="main" onClick={onDone}>
          I have stored it
        </button>
      </footer>
    </>
  );
}
