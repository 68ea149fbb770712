// What may be kept of a shop in memory. The compiler checks the first lines: it reports an error if it accepts one below
// `@ts-expect-error`.
import { expect, test } from "bun:test";
import type { Paged } from "../contract/handler.ts";
import type { Page } from "./pages.ts";
import { lasting } from "./versions.ts";

const page: Page<{ id: bigint }> = { items: [{ id: 1n }], next: 1n, positionAt: () => 1n };

const responses = (): Pick<Paged, "items" | "lasts">[] => [
  lasting(page, "id"),
  page,
  // @ts-expect-error -- nobody else says that a page lasts
  { ...page, lasts: true },
  // @ts-expect-error -- nor in another way
  { ...page, lasts: {} },
  // @ts-expect-error -- an animal that is added can come between others that are sorted by name
  lasting(page, "name"),
  // @ts-expect-error -- one resource is no page
  lasting({ body: page.items }, "id"),
];

test("a page lasts if it is full and in the order in which animals are added", () => {
  expect(responses).toBeFunction();
  expect(lasting(page, "id").lasts).toBeTruthy();
  expect(lasting(page, "-id").lasts).toBeUndefined();
  expect(lasting({ items: page.items, positionAt: page.positionAt }, "id").lasts).toBeUndefined();
});
