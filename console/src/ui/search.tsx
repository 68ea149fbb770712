import { useRef } from "preact/hooks";
import { useShortcut } from "../shortcuts.tsx";
import { useDraft } from "./draft.ts";

/** The wait after the last key press before it searches, in milliseconds. */
const SEARCH_DELAY = 300;

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly search: (text: string) => void;
}

/** A field that searches while the user types. `/` moves the focus to it. */
export function Search({ label, value, search }: SearchProps) {
  const { input, send } = useDraft(value, search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wait = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(send, SEARCH_DELAY);
  };
  useShortcut("/", label, () => input.current?.focus());
  return <input ref={input} type="search" aria-label={label} placeholder={label} onInput={wait} />;
}
