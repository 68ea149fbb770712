import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { FieldDescription } from "../contract.ts";
import { createPetBody } from "../generated/contract.ts";
import { Icon } from "./icon.tsx";
import { useId } from "./use-id.ts";

/** The wait after the last key press before it asks the service, in milliseconds. */
const DELAY = 250;

/** The longest name, and the longest reference. */
const { maxLength } = createPetBody.find(({ name }) => name === "name") as FieldDescription;

/**
 * A text as it was when nothing was typed for a moment, without spaces around it, and a function that does not wait for
 * that: scanners type Enter.
 */
export function useTyped(text: string): readonly [typed: string, take: () => void] {
  const [typed, setTyped] = useState(text);
  const take = () => setTyped(text.trim());
  useEffect(() => {
    const timer = setTimeout(take, DELAY);
    return () => clearTimeout(timer);
  }, [text]);
  return [typed, take];
}

/** One of the suggestions below a field. */
export interface Suggestion {
  readonly key: string;
  readonly isDisabled?: boolean;
  readonly shown: ComponentChildren;
}

interface ComboboxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly type: (text: string) => void;
  readonly isOpen: boolean;
  readonly suggestions: readonly Suggestion[];
  /** The key of the suggestion that Enter chooses. */
  readonly active: string | undefined;
  /** Called for the suggestion to which an arrow key leads. */
  readonly activate: (key: string) => void;
  /** Called for one that is clicked. */
  readonly choose: (key: string) => void;
  /** Called for Enter, unless the form that the field is in gets it. */
  readonly enter?: () => void;
}

/** A field with suggestions, among which the arrow keys move. */
export function Combobox(props: ComboboxProps) {
  const { label, placeholder, text, type, isOpen, suggestions, active, activate, choose, enter } = props;
  const id = useId();
  const at = isOpen ? suggestions.findIndex(({ key }) => key === active) : -1;
  const activeId = at < 0 ? undefined : `${id}-${at}`;
  useLayoutEffect(() => document.getElementById(`${activeId}`)?.scrollIntoView({ block: "nearest" }), [activeId]);
  const onKey = (event: KeyboardEvent) => {
    if (enter && event.key === "Enter") {
      event.preventDefault();
      enter();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const keys = suggestions.filter(({ isDisabled }) => !isDisabled).map(({ key }) => key);
    if (!step || keys.length === 0) return;
    event.preventDefault();
    activate(keys.at((keys.indexOf(`${active}`) + step) % keys.length) as string);
  };
  return (
    <>
      <label for={id}>{label}</label>
      <div class="with-icon">
        <Icon of="search" />
        <input
          id={id}
          role="combobox"
          autocomplete="off"
          maxLength={maxLength}
          placeholder={placeholder}
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-activedescendant={activeId}
          value={text}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKey}
        />
      </div>
      {isOpen && suggestions.length > 0 && (
        <ul class="suggestions" id={`${id}-list`} role="listbox" aria-label="Suggestions">
          {suggestions.map(({ key, isDisabled, shown }, index) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has them
            <li
              key={key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={key === active}
              aria-disabled={isDisabled}
              onClick={() => isDisabled || choose(key)}
            >
              {shown}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
