import type { EventFilter } from "../../contract/event-filter.ts";
import { bind } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { setting } from "../../settings/setting.ts";
import { defineDomain } from "../domain.ts";
import { eventRetention } from "./event-retention.store.ts";
import { EventWatch } from "./event-watch.ts";
import { eventsCommand } from "./events.command.ts";
import { eventHandlers } from "./events.handlers.ts";
import { eventOperations } from "./events.operations.ts";
import { eventTable } from "./events.table.ts";

const settings = {
  PETSTORE_EVENT_DAYS: setting<number>({
    meaning: "How many days events are stored. The newest is always kept.",
    fallback: "30",
    expects: "a whole number of days from 7 to 3650",
    parse: (text) => {
      const days = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
      return days >= 7 && days <= 3650 ? days : undefined;
    },
  }),
};

/** The log of each shop, for these types and filters of events. */
export function eventsDomain(types: readonly EventType[], filters: readonly EventFilter[]) {
  const operations = eventOperations(types, filters);
  return defineDomain<typeof settings>({
    name: "events",
    operations,
    settings,
    commands: [eventsCommand(types.map(({ type }) => type))],
    tables: [eventTable],
    open: ({ storage, expiry, log, repeat }, { PETSTORE_EVENT_DAYS }) => {
      const deleteOld = eventRetention(storage, PETSTORE_EVENT_DAYS);
      repeat({ name: "delete_old_events", by: "leader", run: () => deleteOld(expiry.now()) });
      const failed = (error: unknown) => log.failing("task_failed", error, { task: "follow_events" });
      return bind(operations, eventHandlers(new EventWatch(storage, failed), types, filters));
    },
  });
}
