import { type Static, Type } from "typebox";
import { withCommas } from "../../contract/messages.ts";
import { defineOperation } from "../../contract/operation.ts";
import { Int64, LargeCount } from "../../contract/schemas.ts";

/** The maximum number of categories in a summary, and how many are scanned to find them. */
export const MAX_CATEGORIES = 100;
export const CATEGORY_SCAN = 10_000;

const figure = (description: string, example = 0) => LargeCount({ description, minimum: 0, examples: [example] });

const ShopSummary = Type.Object(
  {
    animals: Type.Object(
      {
        total: figure("All animals.", 6),
        available: figure("Those that are `available`.", 3),
        pending: figure("Those that are `pending`.", 1),
        sold: figure("Those that are `sold`.", 1),
        withoutStatus: figure("Those without a status.", 1),
      },
      { title: "AnimalFigures", description: "How many animals the shop has, by status." },
    ),
    categories: Type.Array(
      Type.Object(
        {
          categoryId: Int64({ description: "Identifier of the category.", examples: [1n] }),
          animals: figure("Animals in the category.", 4),
        },
        { title: "CategoryFigure", description: "How many animals belong to a category." },
      ),
      {
        description: `The ${MAX_CATEGORIES} categories with the most animals, largest first.`,
        maxItems: MAX_CATEGORIES,
      },
    ),
    openOrders: figure("Orders that are `placed`.", 1),
    today: Type.Object(
      {
        added: figure("Animals that were added or imported.", 2),
        sold: figure("Orders that were confirmed.", 1),
        markedSold: figure("How often an animal's status was set to `sold` by hand, which counts as no sale."),
        expired: figure("Orders that expired."),
        returned: figure("Orders whose animal was returned."),
      },
      { title: "DayFigures", description: "Counts since midnight (UTC)." },
    ),
  },
  { title: "ShopSummary", description: "The figures of a shop." },
);
export type ShopSummary = Static<typeof ShopSummary>;

const summary: ShopSummary = {
  animals: { total: 6, available: 3, pending: 1, sold: 1, withoutStatus: 1 },
  categories: [
    { categoryId: 1n, animals: 4 },
    { categoryId: 2n, animals: 2 },
  ],
  openOrders: 1,
  today: { added: 2, sold: 1, markedSold: 0, expired: 0, returned: 0 },
};

const getShop = defineOperation({
  name: "getShop",
  method: "GET",
  path: "/shop",
  tag: { name: "shop", description: "Figures of the whole shop.", stability: "beta" },
  summary: "Get the figures of the shop",
  description:
    "Returns the number of animals by status and category, the number of open orders, and today's changes. The " +
    `largest categories are found among the first ${withCommas(CATEGORY_SCAN)} that have or had animals.`,
  agentTools: {
    shop_summary: {
      does: "reads",
      takes: [],
      gives: "summary",
      text: "Count animals, open orders and today's changes.",
    },
  },
  response: { status: 200, description: "The figures.", schema: ShopSummary, examples: { "A small shop": summary } },
});

export const shopOperations = [getShop] as const;
