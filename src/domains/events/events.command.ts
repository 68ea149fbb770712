import { exactJson, exactValue } from "../../contract/serialize.ts";
import type { StreamSink } from "../../contract/stream.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Command, CommandFailed, UsageError, withStore } from "../../terminal/command.ts";
import { plain, table } from "../../terminal/output.ts";
import { chosenShop, shopOptions } from "../shops/shop-options.ts";
import { EventWatch } from "./event-watch.ts";
import type { Event } from "./events.schemas.ts";
import { type EventFilters, EventLog } from "./events.store.ts";

/** How many events are shown by default. */
const SHOWN = 20;
/** The maximum number of events that wait for the output, apart from those of one read. */
const MAX_WAITING = 1_000;
const headings = ["ID", "AT", "TYPE", "SUBJECT", "ACTOR"];

/** The command that shows the log of a shop. `types` are all types of events. */
export function eventsCommand(types: readonly string[]): Command {
  return {
    name: "events",
    summary: "Show the newest events of a shop.",
    description:
      "With --follow it also shows new events until it is stopped. Then --json prints one line for each event.",
    example: "events --type order.placed --follow",
    options: {
      ...shopOptions,
      type: { meaning: "Only events of these types, separated by commas.", value: "TYPES" },
      last: { meaning: "How many events to show, at most 1000.", value: "N", fallback: String(SHOWN) },
      follow: { meaning: "Continue with new events as they happen." },
    },
    run: (given, context) => {
      const { options, json } = given;
      const filters: EventFilters = { type: readTypes(options["type"], types) };
      const last = readLast(options["last"]);
      const { store, output, stop } = context;
      const write = (list: readonly Event[]) =>
        output(list.map((event) => `${plain(json ? exactJson(event) : row(event).join("  "))}\n`).join(""));
      return withStore(context, async (storage) => {
        const shop = await chosenShop(given, store, storage);
        const log = new EventLog();
        const { last: newest } = await storage.read(log.storedRange(shop));
        const events = await newestOf(storage, log, shop, last, filters);
        if (options["follow"] === undefined) {
          const text = events.length > 0 ? table(headings, events.map(row)) : "There are no matching events.";
          return { json: exactValue(events), text };
        }
        await write(events);
        await follow({ storage, log, shop, filters, after: events.at(-1)?.id ?? newest, write, stop });
        return { json: undefined, text: "", printToStderr: true };
      });
    },
  };
}

/** Up to `most` of the newest events that pass the filters, the oldest first. */
async function newestOf(
  storage: Storage,
  log: EventLog,
  shop: number,
  most: number,
  filters: EventFilters,
): Promise<Event[]> {
  const found: Event[] = [];
  let position: bigint | undefined;
  do {
    const { items, next } = await storage.read(log.before(shop, position, most - found.length, filters));
    found.push(...items);
    position = next;
  } while (position !== undefined && found.length < most); // a page may have fewer events, although more follow
  return found.toReversed();
}

interface FollowOptions {
  readonly storage: Storage;
  readonly log: EventLog;
  readonly shop: number;
  readonly filters: EventFilters;
  /** Only events after this id are written. */
  readonly after: bigint;
  readonly write: (events: readonly Event[]) => Promise<void>;
  readonly stop: AbortSignal;
}

function notFollowed(): CommandFailed {
  const message = "The sandbox was reset, the account was deleted, or the store failed. Run the command again.";
  return new CommandFailed("not_followed", message);
}

/**
 * Writes events as they happen, until `stop`. If the output takes them too slowly, it reads them from the store again,
 * once the output has taken those that wait.
 */
async function follow({ storage, log, shop, filters, after, write, stop }: FollowOptions): Promise<void> {
  const watch = new EventWatch(log, storage, () => {}); // polls try again after errors of the store
  let position = after;
  while (!stop.aborted) {
    const source = await storage.read(watch.follow(shop, position, filters));
    if ("refused" in source) throw notFollowed();
    const ended = Promise.withResolvers<void>();
    let written: Promise<void> = Promise.resolve();
    let waiting = 0;
    const sink: StreamSink<Event> & { isOpen: boolean } = {
      isOpen: true,
      send: (events) => {
        waiting += events.length;
        if (waiting > MAX_WAITING) ended.resolve();
        written = written.then(() => write(events)).then(() => void (waiting -= events.length));
        written.catch(ended.reject); // the reader of the output has closed it
      },
      skipTo: (id) => void (position = id),
      drained: () => written,
      end: () => ended.reject(notFollowed()),
      endLog: () => ended.reject(notFollowed()),
    };
    const end = source.start(sink);
    const onStop = () => ended.resolve();
    stop.addEventListener("abort", onStop);
    await ended.promise.finally(() => {
      stop.removeEventListener("abort", onStop);
      sink.isOpen = false;
      end();
    });
    await written;
  }
}

function row({ id, at, type, subject, actor }: Event): string[] {
  return [String(id), at, type, `${subject.type} ${subject.id}`, actor.keyId ?? actor.kind];
}

function readTypes(text: string | undefined, types: readonly string[]): readonly string[] | undefined {
  const wanted = text?.split(",").map((type) => type.trim());
  const unknown = wanted?.find((type) => !types.includes(type));
  if (unknown !== undefined)
    throw new UsageError(`No event has the type ${unknown}. The types are ${types.join(", ")}.`);
  return wanted;
}

function readLast(text = String(SHOWN)): number {
  if (!/^(?:[1-9][0-9]{0,2}|1000)$/.test(text)) throw new UsageError("--last must be a whole number from 1 to 1000.");
  return Number(text);
}
