import { useRef } from "preact/hooks";
import { longestSearch } from "../generated/contract.ts";
import { useDraft } from "./draft.ts";
import { Icon } from "./icon.tsx";

/** The wait after the last key press before it searches, in milliseconds. */
const SEARCH_DELAY = 300;

interface SearchProps {
  readonly label: string;
  /** What can be entered. */
  readonly hint?: string;
  readonly value: string;
  readonly search: (text: string) => void;
}

/** A field that searches while the user types. */
export function Search({ label, hint = label, value, search }: SearchProps) {
  const { input, send } = useDraft(value, search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wait = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(send, SEARCH_DELAY);
  };
  return (
    <div class="with-icon">
      <Icon of="search" />
      <input ref={input} type="search" aria-label={label} placeholder={hint} maxLength={longestSearch} onInput={wait} />
    </div>
  );
}
