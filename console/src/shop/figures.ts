import type { Petstore, ShopSummary } from "petstore-client";
import { FIGURES } from "../animals/pets.ts";
import { isLive } from "../service/live.ts";
import { type QueryInputs, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";

/** The figures count the animals of at most this many categories, the largest. */
const MAX_COUNTED = 100;

/** How many animals are in a category; undefined if that is not known. */
export function countIn(figures: ShopSummary | undefined, id: bigint): number | undefined {
  const named = figures?.categories.find(({ categoryId }) => categoryId === id);
  return named?.animals ?? (figures && figures.categories.length < MAX_COUNTED ? 0 : undefined);
}

/** With the day (UTC), because some figures are of today. */
export const figuresQuery = (petstore: Petstore): QueryInputs<ShopSummary> => [
  `${FIGURES} ${new Date().toISOString().slice(0, 10)}`,
  () => petstore.getShop(),
];

/** How many animals and orders the shop has, and what has happened today. */
export function useFigures() {
  const { petstore } = useSession();
  const may = useMay();
  const [key, load] = figuresQuery(petstore);
  return useQuery(may("getShop") ? key : undefined, load, isLive.value);
}
