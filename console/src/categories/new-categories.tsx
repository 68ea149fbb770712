import type { Category, Petstore } from "petstore-client";
import { useAction } from "../service/action.ts";
import { updateCache } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { numberOf } from "../ui/words.ts";
import { CATEGORIES } from "./categories.ts";

const NAMES_SHOWN = 10;

/** The first of several names, and how many others there are. */
export function Names({ of: names }: { readonly of: readonly string[] }) {
  return (
    <>
      <bdi>{names.slice(0, NAMES_SHOWN).join(", ")}</bdi>
      {names.length > NAMES_SHOWN && <span> and {numberOf(names.length - NAMES_SHOWN)} more</span>}
    </>
  );
}

/** Creates a category and shows it at once. */
export async function addCategory(petstore: Petstore, name: string): Promise<Category> {
  const category = await petstore.createCategory({ name });
  updateCache<ReadonlyMap<bigint, Category>>(CATEGORIES, (known) => new Map([...known, [category.id, category]]));
  return category;
}

/** Offers to create the categories of these names. */
export function NewCategories({ names }: { readonly names: readonly string[] }) {
  const { petstore } = useSession();
  const action = useAction(async () => {
    for (const name of names) await addCategory(petstore, name);
  });
  return (
    <div class="note">
      <p>
        {names.length === 1 ? "This category does not exist yet" : "These categories do not exist yet"}:{" "}
        <Names of={names} />
      </p>
      <button type="button" disabled={action.isRunning} onClick={() => void action.run()}>
        {names.length === 1 ? "Create it" : `Create ${numberOf(names.length)} categories`}
      </button>
      <ErrorNote error={action.error} />
    </div>
  );
}
