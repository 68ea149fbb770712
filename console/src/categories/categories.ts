import type { Category } from "petstore-client";
import { isLive } from "../service/live.ts";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";

/** Categories beyond this number are shown by their id. Imported files must have their id too. */
export const MAX_NAMED = 1_000;

export const CATEGORIES = "categories";

/** The first categories by id. */
export function useCategories() {
  const { petstore } = useSession();
  const load = async () => {
    const found = new Map<bigint, Category>();
    for await (const category of petstore.listCategories({ limit: 100 })) {
      found.set(category.id, category);
      if (found.size >= MAX_NAMED) break;
    }
    return found;
  };
  return useQuery(CATEGORIES, load, isLive.value);
}
