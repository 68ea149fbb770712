import type { Operation } from "../../src/contract/operation.ts";

/** Query strings with each of the operation's filters, by an example or each value of an enumeration. */
export function filtersOf({ query }: Operation): string[] {
  const filters = Object.entries(query?.properties ?? {}) as [string, { examples?: unknown[]; enum?: unknown[] }][];
  return filters
    .filter(([name]) => name !== "cursor" && name !== "limit")
    .flatMap(([name, { examples = [], enum: values = examples }]) =>
      values.map((value) => `?${name}=${encodeURIComponent(String(value))}`),
    );
}
