import { useEffect, useRef, useState } from "preact/hooks";

/** What the user types before it becomes part of the address. */
interface Draft {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** True if the text is not the one that was sent last. */
  readonly isNew: boolean;
  /** Calls `take` with the text. */
  readonly send: (take: (text: string) => void) => void;
}

/** Follows changes of `value` from elsewhere. Keeps text that is typed while earlier text is written to the address. */
export function useDraft(value: string): Draft {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setText((sent.current = value));
  }, [value]);
  const send: Draft["send"] = (take) => {
    sent.current = text;
    take(text);
  };
  return { text, setText, isNew: text !== sent.current, send };
}
