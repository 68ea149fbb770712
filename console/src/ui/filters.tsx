import { filterBy, usePlace } from "../router.tsx";
import { useDraft } from "./draft.ts";

interface SelectFilterProps {
  /** The name of the query parameter. */
  readonly name: string;
  readonly label: string;
  /** The label of the choice that filters nothing. */
  readonly all: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
}

/** A filter with fixed choices, stored in the address. */
export function SelectFilter({ name, label, all, choices }: SelectFilterProps) {
  const { query } = usePlace();
  return (
    <select
      aria-label={label}
      value={query[name] ?? ""}
      onChange={({ currentTarget: { value } }) => filterBy({ [name]: value })}
    >
      <option value="">{all}</option>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A filter by a number, stored in the address. It takes effect on Enter, or when the field loses the focus. */
export function NumberFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const { query } = usePlace();
  const { text, setText, send } = useDraft(query[name] ?? "");
  return (
    <input
      aria-label={label}
      placeholder={label}
      inputMode="numeric"
      pattern="\d{1,19}"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
      onChange={({ currentTarget }) => currentTarget.reportValidity() && send((number) => filterBy({ [name]: number }))}
    />
  );
}
