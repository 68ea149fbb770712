import type { ComponentChildren, RefObject } from "preact";
import { useId } from "./use-id.ts";

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
  readonly fault?: string | false | undefined;
  readonly inputMode?: "decimal";
  readonly placeholder?: string | undefined;
  readonly maxLength?: number | undefined;
  /** Texts that it suggests. */
  readonly choices?: readonly string[];
  readonly field?: RefObject<HTMLInputElement | null> | undefined;
  /** Beside the field. */
  readonly children?: ComponentChildren;
}

/** A text that may be left out. */
export function TextField({ label, value, change, fault, choices, field, children, ...rest }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label} <span class="fine">optional</span>
      </label>
      <div class="beside">
        <input
          id={id}
          ref={field ?? null}
          autocomplete="off"
          value={value}
          list={choices && `${id}-choices`}
          aria-invalid={Boolean(fault)}
          aria-describedby={`${id}-fault`}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          {...rest}
        />
        {children}
      </div>
      {choices && (
        <datalist id={`${id}-choices`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      <p id={`${id}-fault`} class="fault">
        {fault || null}
      </p>
    </div>
  );
}
