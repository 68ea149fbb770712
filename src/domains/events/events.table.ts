import { integer, optional, type RowOf, table, text } from "../../storage/table.ts";

/**
 * The log of each shop: one row for each resource that a change has changed, with ids from 1 on without gaps.
 *
 * `under` is the id that the event is found by, such as of the animal that was ordered, or null. `subject` is the id of
 * the changed resource; null where that is `under`, as in most events. `actor` is the id of a key, `key` for a
 * key that readers of the log must not see, `system` or `operator`. `data` is the resource after the change, and
 * `previous` a JSON Merge Patch that turns it into the resource before the change. Both are JSON as the API shows it.
 */
export const eventTable = table(
  "events",
  {
    shop: integer,
    id: integer,
    at: integer,
    under: optional(integer),
    type: text,
    subject: optional(text),
    actor: text,
    request_id: optional(text),
    data: optional(text),
    previous: optional(text),
  },
  { key: ["shop", "id"], indices: { events_under: { on: "shop, under, id" } } },
);

export type EventRow = Omit<RowOf<typeof eventTable>, "shop">;
/** The columns besides `id` that are small. In a row, they come before the others. */
export const smallColumns = ["at", "type", "under", "subject", "actor", "request_id"] as const;
export const columns = [...smallColumns, "data", "previous"] as const;
