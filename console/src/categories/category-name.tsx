import type { Category, Int64 } from "petstore-client";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { nameKey } from "../../../csv/name-key.ts";
import type { FieldDescription } from "../contract.ts";
import { createCategoryBody } from "../generated/contract.ts";
import { useMay, useSession } from "../session/session.ts";
import type { ControlProps } from "../ui/form/field.tsx";
import { NEW } from "../ui/form/values.ts";
import { Select } from "../ui/select.tsx";
import { useCategories } from "./categories.ts";
import { addCategory } from "./new-categories.tsx";

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

const { maxLength } = createCategoryBody.find(({ name }) => name === "name") as FieldDescription;
const isCalled = (name: string) => (category: Category) => nameKey(category.name) === nameKey(name.trim());

/** Returns the id that a value of `CategoryControl` stands for. A category that was named is created unless it exists. */
export function useCategoryId() {
  const { petstore } = useSession();
  const { data } = useCategories();
  return async <T extends Int64 | undefined>(value: T): Promise<T | bigint> => {
    const text: unknown = value;
    if (typeof text !== "string") return value;
    const name = text.slice(NEW.length).trim();
    const known = [...(data?.values() ?? [])].find(isCalled(name));
    return (known ?? (await addCategory(petstore, name))).id;
  };
}

/** A control to choose a category by name, or to name one that is created with the change: see `useCategoryId`. */
export function CategoryControl({ id, field, entry, change, described }: ControlProps) {
  const { data } = useCategories();
  const may = useMay();
  const [isNaming, setNaming] = useState(false);
  const text = entry as string;
  const newName = text.startsWith(NEW) ? text.slice(NEW.length) : "";
  const known = [...(data?.values() ?? [])].filter((category) => category.id !== field.except);
  const isNone = data !== undefined && known.length === 0;
  const canCreate = may("createCategory");
  const isNew = isNaming || newName !== "" || (isNone && canCreate);
  useLayoutEffect(() => document.getElementById(id)?.focus(), [isNew]); // a form then moves it to its first field
  const choose = (chosen: string) => {
    setNaming(chosen === NEW);
    change(chosen === NEW ? "" : chosen);
  };
  /** Chooses the category that has the name, if there is one. */
  const settle = () => {
    const same = known.find(isCalled(newName));
    if (same) choose(String(same.id));
    else setNaming(newName !== "");
  };
  useEffect(() => {
    if (newName) settle(); // it has been created
  }, [data]);
  if (isNew) {
    return (
      <>
        <input
          id={id}
          autocomplete="off"
          placeholder="Name of the category"
          maxLength={maxLength}
          value={newName}
          onInput={({ currentTarget: { value } }) => change(value.trim() ? NEW + value : "")}
          onChange={settle}
          {...described}
        />
        <p class="fine">
          {known.some(isCalled(newName)) ? "This category exists." : "A new category. It is created when you save."}
        </p>
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
