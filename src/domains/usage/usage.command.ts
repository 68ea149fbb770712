import type { Storage } from "../../storage/storage.ts";
import { type Command, oneOf, wholeNumber, withStore } from "../../terminal/command.ts";
import { table } from "../../terminal/output.ts";
import { DAY_SECONDS } from "../../timing/clock.ts";
import { countsSince, type GroupCount, groupings, topOf, usageOrders } from "./top-usage.ts";

const MAX_DAYS = 30;

/** Recorded requests by address since a time in Unix milliseconds. Usage is not counted by address. */
type AddressCounts = (storage: Storage, since: number) => Promise<GroupCount[]>;

/** The command that shows the largest senders. `addressCounts` reads the records of requests. */
export const usageCommand = (addressCounts: AddressCounts): Command => ({
  name: "usage",
  summary: "Show the accounts, keys, addresses or operations with the most requests, errors or rejections.",
  description:
    "Errors are responses with status 5xx, rejections those with 4xx. Addresses come only from recorded requests:\n" +
    "changes and failures of the last 7 days, at most ten per key and second.",
  example: "usage --top keys --by rejections --days 7",
  options: {
    top: { meaning: `What to group by: ${groupings.join(", ")}.`, value: "WHAT", fallback: "accounts" },
    by: { meaning: `The count to sort by: ${usageOrders.join(", ")}.`, value: "COUNT", fallback: "requests" },
    days: { meaning: `The number of UTC days, including today, at most ${MAX_DAYS}.`, value: "N", fallback: "1" },
    limit: { meaning: "The number of rows, at most 1000.", value: "N", fallback: "20" },
  },
  run: (given, context) => {
    const top = oneOf(given, "top", groupings);
    const by = oneOf(given, "by", usageOrders);
    const days = wholeNumber(given, "days", MAX_DAYS);
    const limit = wholeNumber(given, "limit", 1_000);
    const since = (Math.floor(Date.now() / 1000 / DAY_SECONDS) - days + 1) * DAY_SECONDS;
    return withStore(context, async (storage) => {
      const counts =
        top === "addresses" ? await addressCounts(storage, since * 1000) : await countsSince(storage, top, since);
      const sums = topOf(counts, by, limit);
      const rows = sums.map(({ name, requests, errors, rejections }) =>
        [name || "(none)", requests, errors, rejections].map(String),
      );
      const text =
        rows.length > 0 ? table([top.toUpperCase(), "REQUESTS", "ERRORS", "REJECTIONS"], rows) : "There are none.";
      return { json: sums, text };
    });
  },
});
