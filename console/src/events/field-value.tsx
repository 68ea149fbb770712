import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";

/** The values of a resource by the names of its fields. */
export type Fields = Readonly<Record<string, string | number | bigint | boolean | object | null | undefined>>;

/** The value of a field of a resource as text. That of an object is on one line: "shelf: B-12, supplier: Tiny Paws". */
export function FieldValue({ name, value }: { readonly name: string; readonly value: Fields[string] }) {
  const { data: categories } = useCategories();
  if (value === undefined || value === null) return <>none</>;
  if (name === "categoryId") return <CategoryName id={value as bigint} of={categories} />;
  if (typeof value !== "object") return <bdi>{String(value)}</bdi>;
  const parts = Object.entries(value).map(([key, part]) => (Array.isArray(value) ? part : `${key}: ${part ?? "none"}`));
  return <bdi>{parts.join(", ")}</bdi>;
}
