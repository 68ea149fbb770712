import { bind } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import { setting } from "../../settings/setting.ts";
import { defineDomain } from "../domain.ts";
import { EventRetention } from "./event-retention.store.ts";
import { EventWatch } from "./event-watch.ts";
import { eventsCommand } from "./events.command.ts";
import { eventHandlers } from "./events.handlers.ts";
import { eventOperations } from "./events.operations.ts";
import { eventTables } from "./events.statements.ts";
import { EventLog } from "./events.store.ts";

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

/** The log of each shop, for these types of events. */
export function eventsDomain(types: readonly EventType[]) {
  const operations = eventOperations(types);
  return defineDomain<typeof settings>({
    name: "events",
    operations,
    settings,
    commands: [eventsCommand(types.map(({ type }) => type))],
    shopTables: eventTables,
    open: ({ storage, expiry, log, repeat }, { PETSTORE_EVENT_DAYS }) => {
      const retention = new EventRetention(storage, PETSTORE_EVENT_DAYS);
      repeat({ name: "delete_old_events", by: "leader", run: () => retention.sweep(expiry.now()) });
      const eventLog = new EventLog();
      const failed = (error: unknown) => log.failing("task_failed", error, { task: "follow_events" });
      return bind(operations, eventHandlers(eventLog, new EventWatch(eventLog, storage, failed), types));
    },
  });
}
