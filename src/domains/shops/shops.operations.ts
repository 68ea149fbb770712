import { type Static, type TSchema, Type } from "typebox";
import { shown, withCommas } from "../../contract/messages.ts";
import { defineEvent, defineOperation, type Tag } from "../../contract/operation.ts";
import { LargeCount, RULES, type Rule, removable, Timestamp } from "../../contract/schemas.ts";
import { isTimeZone, nearestZone } from "../../timing/time-zones.ts";
import { currency, sentCurrency } from "./price.schemas.ts";

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
    currency: removable(Type.String(sentCurrency), "The currency of prices that name none; `null` removes it."),
  } satisfies Readonly<Record<keyof ShopSettings, TSchema>>,
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

const shop: Tag = { name: "shop", description: "Figures and settings of the whole shop.", stability: "beta" };

/** What a summary shows, besides what domains register. */
export interface ShopSummary extends ShopSettings {
  readonly today: { readonly since: string };
}

/** A field that a domain adds. */
export interface ShownField {
  readonly schema: TSchema;
  readonly example: unknown;
}

/** A count of the current day. */
export interface ShownOfDay {
  readonly field: string;
  readonly description: string;
  readonly example?: number;
}

interface Shown {
  /** What is counted, in words. */
  readonly of: string;
  readonly fields: Readonly<Record<string, ShownField>>;
  readonly today: readonly ShownOfDay[];
}

/** The schema of a count. */
export function figure(description: string, example = 0) {
  return LargeCount({ description, minimum: 0, examples: [example] });
}

/** The operations on a shop, which show these figures. */
export function shopOperations({ of: counted, fields, today }: Shown) {
  const registered = Object.entries(fields);
  const schema = Type.Unsafe<ShopSummary>(
    Type.Object(
      {
        ...settings,
        ...Object.fromEntries(registered.map(([name, field]) => [name, field.schema])),
        today: Type.Object(
          {
            since: Timestamp({
              description:
                "When the counts begin: at the start of the day in the shop's time zone; later only on a day with very " +
                "many changes on which the time zone was changed.",
            }),
            ...Object.fromEntries(
              today.map(({ field, description, example }) => [field, figure(description, example)]),
            ),
          },
          { title: "DayFigures", description: "Counts of the current day of the shop." },
        ),
      },
      { title: "ShopSummary", description: "The figures of a shop." },
    ),
  );
  const summary = {
    timeZone: "Europe/Berlin",
    currency: "EUR",
    ...Object.fromEntries(registered.map(([name, { example }]) => [name, example])),
    today: {
      since: "2026-11-20T23:00:00.000Z",
      ...Object.fromEntries(today.map(({ field, example = 0 }) => [field, example])),
    },
  };
  const content = { schema, examples: { "A small shop": summary } };

  const getShop = defineOperation({
    name: "getShop",
    method: "GET",
    path: "/shop",
    tag: shop,
    summary: "Get the figures of the shop",
    aliases: ["inventory", "summary", "settings", "stats", "figures"],
    description: `Returns the settings, the counts of ${counted}, and today's changes.`,
    agentTools: {
      shop_summary: { does: "reads", takes: [], gives: "summary", text: `Count ${counted}, and today's changes.` },
    },
    response: { status: 200, description: "The figures.", ...content },
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
      examples: {
        "A shop in Berlin": { timeZone: "Europe/Berlin", currency: "EUR" },
        "No currency": { currency: null },
      },
    },
    emits: ["shop.updated"],
    response: { status: 200, description: "The shop.", ...content, entityTag: true },
  });

  return [getShop, updateShop] as const;
}
