import type { Category } from "petstore-client";
import type { ControlProps } from "../ui/form/field.tsx";
import { Select } from "../ui/select.tsx";
import { useCategories } from "./categories.ts";

/** The name of a category; its id if the name is not known. */
export function CategoryName({
  id,
  of,
}: {
  readonly id: bigint;
  readonly of: ReadonlyMap<bigint, Category> | undefined;
}) {
  const category = of?.get(id);
  return category ? <bdi>{category.name}</bdi> : <span class="fine number">{of ? `No. ${id}` : ""}</span>;
}

/** A control to choose a category by name. */
export function CategoryControl({ id, field, entry, change, described }: ControlProps) {
  const { data } = useCategories();
  const known = [...(data?.values() ?? [])].filter((category) => category.id !== field.except);
  if (data && known.length === 0) {
    return (
      <input
        id={id}
        inputMode="numeric"
        value={entry as string}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        {...described}
      />
    );
  }
  return (
    <Select
      id={id}
      areNames
      value={entry as string}
      required={field.isRequired ?? false}
      choose={change}
      choices={[
        ["", field.isRequired ? "Choose a category" : "—"],
        ...known.map((category) => [String(category.id), category.name] as const),
      ]}
      {...described}
    />
  );
}
