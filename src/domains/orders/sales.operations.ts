import { type Static, Type } from "typebox";
import { invalidRequest } from "../../contract/errors.ts";
import { withCommas } from "../../contract/messages.ts";
import { defineOperation } from "../../contract/operation.ts";
import { DateTime, LargeCount, Timestamp } from "../../contract/schemas.ts";
import { currency } from "../shops/price.schemas.ts";
import { sentTimeZone } from "../shops/shops.operations.ts";
import { store } from "./orders.operations.ts";
import { categoryId, seller } from "./orders.schemas.ts";

/** The most days of one request. */
export const MAX_DAYS = 366;
/** The most sellers, and the most categories, that a response names. */
export const MAX_ENTRIES = 500;
/** The most hours of a day in any time zone, or parts of one where an offset changes within it. */
const MAX_HOURS = 50;
/** The most sales that one request adds up, and the most returns. */
export const MAX_SALES = 100_000;

const count = (description: string, example = 0) => LargeCount({ description, minimum: 0, examples: [example] });

const figures = {
  sold: count("Orders that were confirmed.", 2),
  returned: count("Orders whose animal was returned: counted when it was returned, not when it was sold.", 1),
  amounts: Type.Array(
    Type.Object(
      {
        currency,
        sold: count("The sum of the prices of confirmed orders.", 49_800),
        returned: count("The sum of the prices of returned ones.", 24_900),
        net: LargeCount({
          description: "`sold` less `returned`: negative where more was returned.",
          minimum: Number.MIN_SAFE_INTEGER,
          examples: [24_900],
        }),
      },
      { title: "SalesAmount", description: "Sums in one currency, in its smallest unit." },
    ),
    { description: "The sums of the prices, by currency.", maxItems: 26 ** 3 },
  ),
};

const SalesFigures = Type.Object(figures, { title: "SalesFigures", description: "How much was sold and returned." });
export type SalesFigures = Static<typeof SalesFigures>;

const other = Type.Optional(
  count("In the last entry, if there are too many: the number of all others, whose sums it has.", 12),
);

const Sales = Type.Object(
  {
    since: Timestamp({ description: "The start of the span." }),
    until: Timestamp({ description: "The end of the span, exclusive." }),
    timeZone: Type.String({ description: "The time zone of the days.", maxLength: 64, examples: ["Europe/Berlin"] }),
    total: SalesFigures,
    days: Type.Array(
      Type.Object(
        { date: Type.String({ description: "The date.", format: "date", examples: ["2026-11-21"] }), ...figures },
        { title: "SalesOfDay", description: "The sales of a day of the time zone, as far as it is in the span." },
      ),
      // The span may begin and end within a day.
      { description: "The sales of each day, also of days without any.", maxItems: MAX_DAYS + 2 },
    ),
    hours: Type.Optional(
      Type.Array(
        Type.Object(
          {
            start: Timestamp({ description: "When the hour begins, or the part of it that is in the span." }),
            ...figures,
          },
          { title: "SalesOfHour", description: "The sales of an hour of the time zone." },
        ),
        { description: "The sales of each hour, if the span is within one day.", maxItems: MAX_HOURS },
      ),
    ),
    sellers: Type.Array(
      Type.Object(
        { name: Type.Optional({ ...seller, description: "The `seller` of the orders." }), other, ...figures },
        { title: "SalesOfSeller", description: "What one seller sold." },
      ),
      {
        description: `The sales by \`seller\`, most first: at most ${MAX_ENTRIES}, and then one entry of all others.`,
        maxItems: MAX_ENTRIES + 1,
      },
    ),
    categories: Type.Array(
      Type.Object(
        {
          categoryId: Type.Optional(categoryId),
          other,
          name: Type.Optional(
            Type.String({
              description: "The category's name now, or its last one if it was deleted. Absent if it had none.",
              maxLength: 255,
              examples: ["Dogs"],
            }),
          ),
          ...figures,
        },
        { title: "SalesOfCategory", description: "The sales of animals that were in a category when they were sold." },
      ),
      {
        description: `The sales by category, most first: at most ${MAX_ENTRIES}, and then one entry of all others.`,
        maxItems: MAX_ENTRIES + 1,
      },
    ),
  },
  { title: "Sales", description: "What a shop has sold in a span of time." },
);
export type Sales = Static<typeof Sales>;

const sold: SalesFigures = {
  sold: 2,
  returned: 1,
  amounts: [{ currency: "EUR", sold: 49_800, returned: 24_900, net: 24_900 }],
};

const getSales = defineOperation({
  name: "getSales",
  method: "GET",
  path: "/store/sales",
  tag: store,
  stability: "beta",
  summary: "Get sales",
  aliases: ["revenue", "reports", "statistics", "turnover"],
  description:
    "Returns what was sold in a span of time, by day, by hour within one day, by seller and category. A sale is a " +
    "confirmed order; a status set to `sold` by hand is none. Sales that are confirmed meanwhile may be missing. " +
    `At most ${MAX_DAYS} days, with at most ${withCommas(MAX_SALES)} sales and as many returns.`,
  query: Type.Object({
    since: Type.Optional(
      DateTime({ description: "The start of the span. Default: the start of the day that `until` ends, or of today." }),
    ),
    until: Type.Optional(
      DateTime({ description: "The end of the span, exclusive. Default: now or, without `since`, the end of today." }),
    ),
    timeZone: Type.Optional(
      Type.String({
        ...sentTimeZone,
        description: "Whose days are meant: a time zone of the IANA database. Default: the shop's.",
      }),
    ),
  }),
  agentTools: {
    show_sales: { does: "reads", takes: ["since", "until", "timeZone"], gives: "sales", text: "Sum up sales by day." },
  },
  response: {
    status: 200,
    description: "The sales.",
    schema: Sales,
    examples: {
      "An hour": {
        since: "2026-11-21T09:00:00.000Z",
        until: "2026-11-21T10:00:00.000Z",
        timeZone: "UTC",
        total: sold,
        days: [{ date: "2026-11-21", ...sold }],
        hours: [{ start: "2026-11-21T09:00:00.000Z", ...sold }],
        sellers: [{ name: "Maria", ...sold }],
        categories: [{ categoryId: 1n, name: "Dogs", ...sold }],
      } satisfies Sales,
    },
  },
  errors: [invalidRequest],
});

export const salesOperations = [getSales] as const;
