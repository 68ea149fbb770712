import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { longestSearch } from "../generated/contract.ts";
import { ErrorNote } from "./error-note.tsx";
import { Icon } from "./icon.tsx";
import { useId } from "./use-id.ts";

/** The wait after the last key press before it asks the service, in milliseconds. */
const DELAY = 250;

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
  readonly choose: () => void;
}

interface ComboboxProps {
  readonly label: string;
  readonly text: string;
  readonly type: (text: string) => void;
  readonly suggestions: readonly Suggestion[];
  /** True while the suggestions are those of another text: no key chooses one. */
  readonly areOld?: boolean;
  /** Called for Enter if no arrow key has led to a suggestion. By default, Enter then chooses the first. */
  readonly enter?: () => void;
  readonly error: unknown;
  readonly retry: () => void;
  /** What is said about the suggestions. */
  readonly children: ComponentChildren;
}

/** A field with suggestions, among which the arrow keys move. */
export function Combobox({ label, text, type, suggestions, areOld, enter, error, retry, children }: ComboboxProps) {
  const id = useId();
  const [key, activate] = useState<string>();
  const free = suggestions.filter(({ isDisabled }) => !isDisabled && !areOld);
  const active = free.find((one) => one.key === key) ?? (enter ? undefined : free[0]);
  const activeId = active && `${id}-${suggestions.indexOf(active)}`;
  useLayoutEffect(() => document.getElementById(`${activeId}`)?.scrollIntoView({ block: "nearest" }), [activeId]);
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (step === 0) return active ? active.choose() : enter?.();
    const at = active ? free.indexOf(active) : Math.min(0, -step);
    activate(free.at((at + step) % free.length)?.key);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="with-icon">
        <Icon of="search" />
        <input
          id={id}
          data-first
          role="combobox"
          autocomplete="off"
          maxLength={longestSearch}
          placeholder="Name, number or reference"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={activeId}
          value={text}
          onInput={({ currentTarget }) => {
            activate(undefined);
            type(currentTarget.value);
          }}
          onKeyDown={onKey}
        />
      </div>
      {suggestions.length > 0 && (
        <ul class="suggestions" id={`${id}-list`} role="listbox" aria-label="Suggestions">
          {suggestions.map((one, index) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has them
            <li
              key={one.key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={one === active}
              aria-disabled={one.isDisabled}
              onClick={() => one.isDisabled || one.choose()}
            >
              {one.shown}
            </li>
          ))}
        </ul>
      )}
      <ErrorNote error={error} retry={retry} />
      <p class="fine" role="status">
        {children}
      </p>
    </div>
  );
}
