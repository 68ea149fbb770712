import { useEffect, useRef } from "preact/hooks";
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
  const { text, setText, isNew, send } = useDraft(value);
  const input = useRef<HTMLInputElement>(null);
  const latest = useRef(() => {});
  latest.current = () => send(search);
  useShortcut("/", label, () => input.current?.focus());
  useEffect(() => {
    if (!isNew) return undefined;
    const timer = setTimeout(() => latest.current(), SEARCH_DELAY);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      ref={input}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}
