import type { Petstore, ShopSummary } from "petstore-client";
import { isLive } from "../service/live.ts";
import { type QueryInputs, type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";

/** The figures count the animals of at most this many categories, the largest. */
const MAX_COUNTED = 100;

/** How many animals are in a category; undefined if that is not known. */
export function countIn(figures: ShopSummary | undefined, id: bigint): number | undefined {
  const named = figures?.categories.find(({ categoryId }) => categoryId === id);
  return named?.animals ?? (figures && figures.categories.length < MAX_COUNTED ? 0 : undefined);
}

/** The query key of the figures of the shop. It begins with `PETS`, so that `invalidate(PETS)` includes it. */
export const FIGURES = "pets figures";

export const figuresQuery = (petstore: Petstore): QueryInputs<ShopSummary> => [FIGURES, () => petstore.getShop()];

/** How many animals and orders the shop has, what has happened today, and its settings. */
export function useFigures(): QueryResult<ShopSummary> {
  const { petstore } = useSession();
  const may = useMay();
  const [key, load] = figuresQuery(petstore);
  return useQuery(may("getShop") ? key : undefined, load, isLive.value);
}
