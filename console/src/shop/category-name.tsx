import type { Category } from "petstore-client";
import { useLayoutEffect, useState } from "preact/hooks";
import { nameKey } from "../../../csv/name-key.ts";
import { useMay } from "../session/session.ts";
import type { ControlProps } from "../ui/form/field.tsx";
import { Select } from "../ui/select.tsx";
import { useCategories } from "./categories.ts";
import { NewCategories } from "./new-categories.tsx";

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

/** What is chosen for a category that does not exist yet. No id is such a text. */
const NEW = "new";
const isCalled = (name: string) => (category: Category) => nameKey(category.name) === nameKey(name);

/** A control to choose a category by name, or to create one. */
export function CategoryControl({ id, field, entry, change, described }: ControlProps) {
  const { data } = useCategories();
  const may = useMay();
  const [newName, setNewName] = useState<string>();
  const isNew = newName !== undefined;
  useLayoutEffect(() => document.getElementById(id)?.focus(), [isNew]); // a form then moves it to its first field
  const known = [...(data?.values() ?? [])].filter((category) => category.id !== field.except);
  const isNone = data !== undefined && known.length === 0;
  const canCreate = may("createCategory");
  const choose = (chosen: string) => {
    setNewName(chosen === NEW ? "" : undefined);
    change(chosen === NEW ? "" : chosen);
  };
  if (isNew || (isNone && canCreate)) {
    return (
      <>
        <input
          id={id}
          autocomplete="off"
          placeholder="Name of the category"
          value={newName ?? ""}
          onInput={({ currentTarget }) => setNewName(currentTarget.value)}
          onChange={() => {
            const same = known.find(isCalled(newName ?? ""));
            if (same) choose(String(same.id));
            else if (!newName?.trim()) setNewName(undefined);
          }}
          {...described}
        />
        {newName?.trim() && !known.some(isCalled(newName)) && (
          <NewCategories names={[newName.trim()]} onEach={(category) => choose(String(category.id))} />
        )}
      </>
    );
  }
  if (isNone) {
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
      choose={choose}
      choices={[
        ["", field.isRequired ? "Choose a category" : "—"],
        ...known.map((category) => [String(category.id), category.name] as const),
        ...(canCreate ? [[NEW, "New category…"] as const] : []),
      ]}
      {...described}
    />
  );
}
