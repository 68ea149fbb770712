import { Type } from "typebox";
import { withCommas } from "../../../contract/messages.ts";
import { Int64 } from "../../../contract/schemas.ts";
import { count, integer, optional } from "../../../storage/table.ts";
import { type CountColumn, countColumn, type DayFigure, eventsWhere, type ShopFigures } from "../../shops/figures.ts";
import { addToFigure, type LockedShop } from "../../shops/locked-shop.ts";
import { figure } from "../../shops/shops.operations.ts";
import type { PetStatus } from "../pets.schemas.ts";

/** The maximum number of categories in a summary, and how many are scanned to find them. */
const MAX_CATEGORIES = 100;
const CATEGORY_SCAN = 10_000;

/** The columns of how many animals a shop has, by status. */
export const animalTotals = ["animals_available", "animals_pending", "animals_sold", "animals_without_status"] as const;
/** SQL of the number of animals in the row of a shop. */
export const allAnimals = animalTotals.join(" + ");

export const petsAdded: DayFigure = {
  name: "added",
  field: "added",
  description: "Animals that were added or imported.",
  example: 2,
  inEvents: eventsWhere("type = 'pet.created'"),
};
// The name of an animal holds no plain quote in JSON, and the values of metadata are texts: so the status is the animal's
// own if it comes before the metadata. Each sale has such an event, too.
const names = (field: "data" | "previous", status: string) =>
  `(${field} LIKE '%${status}%"metadata":{%' OR (${field} LIKE '%${status}%' AND ${field} NOT LIKE '%"metadata":{%'))`;
const isSold = `type = 'pet.updated' AND ${names("data", '"status":"sold"')} AND ${names("previous", '"status":')}`;
export const markedSold: DayFigure = {
  name: "marked_sold",
  field: "markedSold",
  description: "How often an animal's status was set to `sold` by hand, which counts as no sale.",
  inEvents: `${eventsWhere(isSold)} - ${eventsWhere("type = 'order.confirmed'")}`,
};

/** What the row of a shop holds of its animals. `animals_allowed` is how many it may hold; null for any number. */
export const petFigures: ShopFigures = {
  of: "animals",
  columns: {
    last_pet_id: count,
    animals_allowed: optional(integer),
    ...Object.fromEntries(animalTotals.map((column) => [column, count])),
  },
  today: [petsAdded, markedSold],
  fields: {
    animals: {
      schema: Type.Object(
        {
          total: figure("All animals.", 6),
          available: figure("Those that are `available`.", 3),
          pending: figure("Those that are `pending`.", 1),
          sold: figure("Those that are `sold`.", 1),
          withoutStatus: figure("Those without a status.", 1),
        },
        { title: "AnimalFigures", description: "How many animals the shop has, by status." },
      ),
      example: { total: 6, available: 3, pending: 1, sold: 1, withoutStatus: 1 },
      read: ([row]) => {
        const [available, pending, sold, withoutStatus] = animalTotals.map((column) => Number(row[column])) as [
          number,
          number,
          number,
          number,
        ];
        return { total: available + pending + sold + withoutStatus, available, pending, sold, withoutStatus };
      },
    },
    animalsAllowed: {
      schema: Type.Optional(figure("How many animals the shop may hold. Absent if any number.", 10_000)),
      example: 10_000,
      read: ([{ animals_allowed: allowed }]) => (allowed == null ? undefined : Number(allowed)),
    },
    categories: {
      schema: Type.Array(
        Type.Object(
          {
            categoryId: Int64({ description: "Identifier of the category.", examples: [1n] }),
            animals: figure("Animals in the category.", 4),
          },
          { title: "CategoryFigure", description: "How many animals belong to a category." },
        ),
        {
          description:
            `The ${MAX_CATEGORIES} categories with the most animals, largest first, among the first ` +
            `${withCommas(CATEGORY_SCAN)} that have or had animals.`,
          maxItems: MAX_CATEGORIES,
        },
      ),
      example: [
        { categoryId: 1n, animals: 4 },
        { categoryId: 2n, animals: 2 },
      ],
      read: (rows) =>
        rows.flatMap(({ category_id: id, animals }) =>
          id === null ? [] : [{ categoryId: id, animals: Number(animals) }],
        ),
    },
  },
  joined: {
    columns: "category_id, animals",
    rows: `
      SELECT category_id, animals
      FROM (SELECT category_id, animals FROM category_animals WHERE shop = $1 ORDER BY category_id LIMIT ${CATEGORY_SCAN}) AS looked
      WHERE animals > 0 ORDER BY animals DESC, category_id LIMIT ${MAX_CATEGORIES}`,
    order: "animals DESC, category_id",
  },
};

/** The column that counts animals with a status. Without one, it is null in the store and undefined elsewhere. */
export function statusFigure(status: PetStatus | null | undefined): CountColumn {
  const name: (typeof animalTotals)[number] = status ? `animals_${status}` : "animals_without_status";
  return countColumn(name);
}

/** Records that an animal has changed its status. */
export function countStatus(locked: LockedShop, from: PetStatus | undefined, to: PetStatus | undefined): void {
  addToFigure(locked, statusFigure(from), -1);
  addToFigure(locked, statusFigure(to));
}
