import type { ShopNumber } from "./caller.ts";
import type { Int64 } from "./schemas.ts";
import type { Read } from "./steps.ts";

/** What a filter looks at in an event. */
interface FilteredEvent {
  readonly subject: { readonly type: string; readonly id: string };
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A query parameter that selects the events of one resource, by its id. Its domain registers it. */
export interface EventFilter {
  readonly name: string;
  readonly schema: ReturnType<typeof Int64>;
  /**
   * The id under which the log has these events (`NewEvent.under`), and their subject; undefined if there is no such
   * resource. Absent if the log has them under the id of the resource.
   */
  find?(shop: ShopNumber, id: bigint): Read<{ readonly under: bigint; readonly subject: string } | undefined>;
  /** Whether an event is of this resource. */
  passes(event: FilteredEvent, id: string): boolean;
}
