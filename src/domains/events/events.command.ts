import { setTimeout } from "node:timers/promises";
import type { ShopNumber } from "../../contract/caller.ts";
import { exactJson, exactValue } from "../../contract/serialize.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import type { ReadableStorage } from "../../storage/storage.ts";
import { type Command, CommandFailed, UsageError, wholeNumber, withStore } from "../../terminal/command.ts";
import { plain, table } from "../../terminal/output.ts";
import { chosenShop, shopOptions } from "../shops/shop-options.ts";
import type { Event } from "./events.schemas.ts";
import { newestEventsOf } from "./events.statements.ts";
import { type EventFilters, eventLog } from "./events.store.ts";

/** The most events of one read, and how often it looks for new ones, in milliseconds. */
const PAGE = 100;
const PERIOD = 200;
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
      last: { meaning: "How many events to show, at most 1000.", value: "N", fallback: "20" },
      follow: { meaning: "Continue with new events as they happen." },
    },
    run: (given, context) => {
      const { options, json } = given;
      const filters: EventFilters = { type: readTypes(options["type"], types) };
      const last = wholeNumber(given, "last", 1_000);
      const { store, output, stop } = context;
      const write = (list: readonly Event[]) =>
        output(list.map((event) => `${plain(json ? exactJson(event) : row(event).join("  "))}\n`).join(""));
      return withStore(context, async (storage) => {
        const shop = await chosenShop(given, store, storage);
        const { last: newest } = await storage.read(eventLog.storedRange(shop));
        const events = await newestOf(storage, shop, last, filters);
        if (options["follow"] === undefined) {
          const text = events.length > 0 ? table(headings, events.map(row)) : "There are no matching events.";
          return { json: exactValue(events), text };
        }
        await write(events);
        await follow({ storage, shop, filters, after: events.at(-1)?.id ?? newest, write, stop });
        return { json: undefined, text: "", printToStderr: true };
      });
    },
  };
}

/** Up to `most` of the newest events that pass the filters, the oldest first. */
async function newestOf(
  storage: ReadableStorage,
  shop: ShopNumber,
  most: number,
  filters: EventFilters,
): Promise<Event[]> {
  const found: Event[] = [];
  let position: bigint | undefined;
  do {
    const left = most - found.length;
    const page = await storage.read(eventLog.between(shop, undefined, position, left, filters, "-id"));
    if ("refused" in page) break;
    found.push(...page.items);
    position = page.next;
  } while (position !== undefined && found.length < most); // a page may have fewer events, although more follow
  return found.toReversed();
}

interface FollowOptions {
  readonly storage: ReadableStorage;
  readonly shop: ShopNumber;
  readonly filters: EventFilters;
  /** Only events after this id are written. */
  readonly after: bigint;
  readonly write: (events: readonly Event[]) => Promise<void>;
  readonly stop: AbortSignal;
}

/** Writes events as they happen, until `stop`. It reads more when the output has taken them. */
async function follow({ storage, shop, filters, after, write, stop }: FollowOptions): Promise<void> {
  let position = after;
  while (!stop.aborted) {
    try {
      const [newest] = await storage.read(newestEventsOf([shop]));
      const page = newest && (await storage.read(eventLog.after(shop, position, PAGE, filters)));
      if (!page || "refused" in page) throw notFollowed;
      const { items, next = newest.id } = page;
      if (items.length > 0) await write(items);
      position = [position, next, items.at(-1)?.id ?? 0n].reduce((one, other) => (one > other ? one : other));
      if (page.next !== undefined) continue;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error; // otherwise it tries again
    }
    await setTimeout(PERIOD, undefined, { signal: stop }).catch(() => {});
  }
}

const notFollowed = new CommandFailed(
  "not_followed",
  "The sandbox was reset, the account was deleted, or events that were not shown yet were deleted. Run the command again.",
);

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
