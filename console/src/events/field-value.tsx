import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { type Money, moneyOf } from "../ui/money.ts";
import { wordOf } from "../ui/words.ts";

/** The values of a resource by the names of its fields. */
export type Fields = Readonly<Record<string, string | number | bigint | boolean | object | null | undefined>>;

/** The value of a field of a resource as text. That of an object is on one line: "shelf: B-12, supplier: Tiny Paws". */
export function FieldValue({ name, value }: { readonly name: string; readonly value: Fields[string] }) {
  if (value === undefined || value === null) return <>none</>;
  if (name === "categoryId") return <CategoryValue id={value as bigint} />;
  if (name === "status") return <>{wordOf(value as string)}</>;
  if (name === "price") return <>{moneyOf(value as Money)}</>;
  if (typeof value !== "object") return <bdi>{String(value)}</bdi>;
  const parts = Object.entries(value).map(([key, part]) => (Array.isArray(value) ? part : `${key}: ${part ?? "none"}`));
  return <bdi>{parts.join(", ")}</bdi>;
}

function CategoryValue({ id }: { readonly id: bigint }) {
  const { data: categories } = useCategories();
  return <CategoryName id={id} of={categories} />;
}
