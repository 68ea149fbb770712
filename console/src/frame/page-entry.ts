import type { Petstore, ShopSummary } from "petstore-client";
import type { ComponentType } from "preact";
import type { OperationName } from "../generated/contract.ts";
import type { Query } from "../router.tsx";
import type { QueryInputs } from "../service/query.ts";
import type { IconName } from "../ui/icon.tsx";

export const groups = ["Shop", "Developers"] as const;

/** A page of the console. */
export interface PageEntry {
  /** Below `/console`. Parts that begin with a colon are parameters. */
  readonly path: string;
  readonly title: string;
  /** The operation that the page needs. The page is hidden from a key that may not use the operation. */
  readonly needs: OperationName;
  /** True for a page of sandboxes: the page is hidden from a live key. */
  readonly isForSandbox?: boolean;
  /** The group of the page in the navigation. A page without a group is reached from the page `under`. */
  readonly group?: (typeof groups)[number];
  readonly under?: string;
  /** Its drawing in the navigation. */
  readonly icon?: IconName;
  /** How many there are, if the navigation says so. */
  readonly count?: (shop: ShopSummary) => number;
  /** True if it is in the bar of a telephone. */
  readonly isInBar?: boolean;
  /** The keyboard shortcut that opens it. */
  readonly shortcut?: string;
  /** The query whose result the page shows first. It is sent while the key is still being checked. */
  readonly firstQuery?: (petstore: Petstore, query: Query) => QueryInputs<unknown>;
  readonly view: ComponentType<{ readonly params: Readonly<Record<string, string>> }>;
}
