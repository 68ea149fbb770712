import { type Static, Type } from "typebox";
import { shown, withCommas } from "../../contract/messages.ts";
import { defineEvent, defineOperation, type Tag } from "../../contract/operation.ts";
import { Int64, LargeCount, RULES, type Rule, Timestamp } from "../../contract/schemas.ts";
import { isTimeZone, nearestZone } from "../../timing/time-zones.ts";
import { currency, sentCurrency } from "./price.schemas.ts";

/** The maximum number of categories in a summary, and how many are scanned to find them. */
export const MAX_CATEGORIES = 100;
export const CATEGORY_SCAN = 10_000;

const figure = (description: string, example = 0) => LargeCount({ description, minimum: 0, examples: [example] });

const ownCurrency = { ...currency, description: "The currency of prices that name none. Absent until it is set." };
const timeZone = {
  description: "The time zone whose days are the shop's, by its name in the IANA database.",
  maxLength: 64,
  examples: ["Europe/Berlin"],
};
const settings = { timeZone: Type.String(timeZone), currency: Type.Optional(Type.String(ownCurrency)) };
const ShopSettings = Type.Object(settings, { title: "ShopSettings", description: "What a shop has chosen." });
export type ShopSettings = Static<typeof ShopSettings>;

const knownZone: Rule = {
  allows: (name) => isTimeZone(name as string),
  message: (name) => {
    const meant = nearestZone(name as string);
    return `must be a time zone of the IANA database, such as Europe/Berlin; got ${shown(name)}${meant ? `, did you mean ${meant}?` : ""}`;
  },
};
/** The keywords of a time zone that a client sends. */
export const sentTimeZone = {
  ...timeZone,
  minLength: 1,
  pattern: "^[A-Za-z0-9_/+-]+$",
  [RULES]: [knownZone],
};
const ShopPatch = Type.Object(
  {
    timeZone: Type.Optional(Type.String(sentTimeZone)),
    currency: Type.Optional(
      Type.Unsafe<string | null>({
        ...sentCurrency,
        type: ["string", "null"],
        description: "The currency of prices that name none; `null` removes it.",
      }),
    ),
  },
  {
    title: "ShopPatch",
    description: "The settings of a shop to change (JSON Merge Patch, RFC 7396).",
    additionalProperties: false,
  },
);
export type ShopPatch = Static<typeof ShopPatch>;

export const shopUpdated = defineEvent({
  type: "shop.updated",
  meaning: "The settings of the shop were changed.",
  data: ShopSettings,
  previous: ShopSettings,
});
export const shopEventTypes = [shopUpdated] as const;

const ShopSummary = Type.Object(
  {
    ...settings,
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
    animalsAllowed: Type.Optional(figure("How many animals the shop may hold. Absent if any number.", 10_000)),
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
        since: Timestamp({
          description:
            "When the counts begin: at the start of the day in the shop's time zone; later only on a day with very many " +
            "changes on which the time zone was changed.",
        }),
        added: figure("Animals that were added or imported.", 2),
        sold: figure("Orders that were confirmed.", 1),
        markedSold: figure("How often an animal's status was set to `sold` by hand, which counts as no sale."),
        expired: figure("Orders that expired."),
        returned: figure("Orders whose animal was returned."),
      },
      { title: "DayFigures", description: "Counts of the current day of the shop." },
    ),
  },
  { title: "ShopSummary", description: "The figures of a shop." },
);
export type ShopSummary = Static<typeof ShopSummary>;

const summary: ShopSummary = {
  timeZone: "Europe/Berlin",
  currency: "EUR",
  animals: { total: 6, available: 3, pending: 1, sold: 1, withoutStatus: 1 },
  animalsAllowed: 10_000,
  categories: [
    { categoryId: 1n, animals: 4 },
    { categoryId: 2n, animals: 2 },
  ],
  openOrders: 1,
  today: { since: "2026-11-20T23:00:00.000Z", added: 2, sold: 1, markedSold: 0, expired: 0, returned: 0 },
};

const shop: Tag = { name: "shop", description: "Figures and settings of the whole shop.", stability: "beta" };

const getShop = defineOperation({
  name: "getShop",
  method: "GET",
  path: "/shop",
  tag: shop,
  summary: "Get the figures of the shop",
  aliases: ["inventory", "summary", "settings", "stats", "figures"],
  description:
    "Returns the settings, the number of animals by status and category, the number of open orders, and today's changes. The " +
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

const updateShop = defineOperation({
  name: "updateShop",
  method: "PATCH",
  path: "/shop",
  tag: shop,
  summary: "Change the settings of the shop",
  description:
    "Changes the time zone, whose days figures and sales have, or the currency (JSON Merge Patch, RFC 7396). Nothing that " +
    `is stored changes with them. In another time zone, today is counted again, from its last ${withCommas(10_000)} changes.`,
  scopes: ["admin"],
  body: {
    schema: ShopPatch,
    examples: { "A shop in Berlin": { timeZone: "Europe/Berlin", currency: "EUR" }, "No currency": { currency: null } },
  },
  emits: ["shop.updated"],
  response: {
    status: 200,
    description: "The shop.",
    schema: ShopSummary,
    examples: { "A small shop": summary },
    entityTag: true,
  },
});

export const shopOperations = [getShop, updateShop] as const;
