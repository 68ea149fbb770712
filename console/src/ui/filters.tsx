import { filterBy, usePlace } from "../router.tsx";
import { useDraft } from "./draft.ts";
import { Select } from "./select.tsx";

interface SelectFilterProps {
  /** The name of the query parameter. */
  readonly name: string;
  readonly label: string;
  /** The label of the choice that filters nothing. */
  readonly all: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly areNames?: boolean;
}

/** A filter with fixed choices, stored in the address. */
export function SelectFilter({ name, label, all, choices, areNames = false }: SelectFilterProps) {
  const { query } = usePlace();
  return (
    <Select
      aria-label={label}
      value={query[name] ?? ""}
      choose={(value) => filterBy({ [name]: value })}
      choices={[["", all], ...choices]}
      areNames={areNames}
    />
  );
}

/** A filter by a number, stored in the address. It takes effect on Enter, or when the field loses the focus. */
export function NumberFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const { query } = usePlace();
  const { input, send } = useDraft(query[name] ?? "", (number) => filterBy({ [name]: number }));
  return (
    <input
      ref={input}
      aria-label={label}
      placeholder={label}
      inputMode="numeric"
      pattern="\d{1,19}"
      onChange={({ currentTarget }) => currentTarget.reportValidity() && send()}
    />
  );
}

interface DateFilterProps {
  readonly label: string;
  readonly value: string;
  readonly take: (date: string) => void;
}

/** A filter by a day. While a year is typed, it is one before the first. */
export function DateFilter({ label, value, take }: DateFilterProps) {
  const { input, send } = useDraft(value, take);
  return (
    <input
      ref={input}
      type="date"
      required
      aria-label={label}
      min="2000-01-01"
      onChange={({ currentTarget }) => currentTarget.checkValidity() && send()}
    />
  );
}
