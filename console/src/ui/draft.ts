import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A field whose text becomes part of the address when it is sent. */
interface Draft {
  readonly input: RefObject<HTMLInputElement | null>;
  /** Passes on the text, unless it was passed on last. */
  readonly send: () => void;
}

/** Follows changes of `value` from elsewhere. Keeps text that is typed while earlier text is written to the address. */
export function useDraft(value: string, take: (text: string) => void): Draft {
  const input = useRef<HTMLInputElement | null>(null);
  const sent = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (input.current && value !== sent.current) input.current.value = sent.current = value;
  }, [value]);
  const send = () => {
    const field = input.current; // null if the page was left
    if (field && field.value !== sent.current) take((sent.current = field.value));
  };
  return { input, send };
}
