import type { Operation } from "../../src/contract/operation.ts";

/** A path of the operation below the base address; 1 stands for every path parameter. */
export function pathOf({ path }: Operation): string {
  return path.replaceAll(/\{[^}]*\}/g, "1");
}

/** A valid body of the operation, made from its example; undefined where it has none. */
export function bodyOf({ body }: Operation): string | undefined {
  if (!body) return undefined;
  const [example] = Object.values(body.examples);
  return JSON.stringify(example, (_name, value: unknown) =>
    typeof value === "bigint" ? JSON.rawJSON(value.toString()) : value,
  );
}
