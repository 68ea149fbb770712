import type { Lasting } from "../contract/steps.ts";
import type { Page } from "./pages.ts";
import { type ChangeStatement, registered, type Values } from "./statement.ts";

// What may be kept of a shop in memory, decided here alone. Each change of a shop writes its newest event into its row by a
// `raisesVersion` statement, which raises the version of the shop when it is committed. `append` does not: what it adds
// comes after all rows, so it changes no page that `lasting` marks.

/** A change that raises the version of a shop, its first parameter: see `ChangesOfStore.versionOf`. */
export function raisesVersion<P extends [shop: number, ...Values]>(sql: string): ChangeStatement<P> {
  return registered({ sql, kind: "change", raisesVersion: true });
}

/** A page of rows to which `append` adds, in this order. It lasts if rows with larger ids come after those of the page. */
export function lasting<T>(page: Page<T>, sort: "id" | "-id"): Page<T> & { readonly lasts: Lasting | undefined } {
  const lasts = page.next !== undefined && sort === "id";
  return { ...page, lasts: lasts ? (lasts as unknown as Lasting) : undefined };
}
