import type { Category, CategoryPatch, NewCategory, Pet, Petstore } from "petstore-client";
import { useState } from "preact/hooks";
import { each, PETS, showPet } from "../animals/pets.ts";
import { changed } from "../contract.ts";
import { createCategoryBody, deleteCategoryQuery, updateCategoryBody } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { countIn, useFigures } from "../shop/figures.ts";
import { AddButton } from "../ui/action-button.tsx";
import { askFirst } from "../ui/confirm.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Page } from "../ui/page.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { Table } from "../ui/table.tsx";
import { say, sayFailure } from "../ui/toasts.tsx";
import { countOf, numberOf } from "../ui/words.ts";
import { CATEGORIES, useCategories } from "./categories.ts";
import { CategoryControl, useCategoryId } from "./category-name.tsx";

type Task = { readonly kind: "add" } | { readonly kind: "edit" | "merge"; readonly category: Category };

/** The categories of the shop. */
export function Categories() {
  const { petstore } = useSession();
  const may = useMay();
  const query = useCategories();
  const { data } = query;
  const { data: figures } = useFigures();
  const [task, setTask] = useState<Task>();
  const add = () => setTask({ kind: "add" });
  const close = () => setTask(undefined);
  return (
    <Page title="Categories" actions={may("createCategory") && <AddButton isMain text="Add category" onClick={add} />}>
      <Table<Category>
        label="Categories"
        items={data && [...data.values()]}
        query={query}
        columns={[
          {
            head: "Name",
            fillsWidth: true,
            narrow: "name",
            cell: ({ id, name }) => (
              <>
                <Link to="/animals" query={{ category: String(id) }} class="title">
                  <bdi>{name}</bdi>
                </Link>
                <span class="fine">{String(id)}</span>
              </>
            ),
          },
          {
            head: "Animals",
            isNumber: true,
            narrow: "end",
            cell: ({ id }) => {
              const count = countIn(figures, id);
              return count !== undefined && numberOf(count);
            },
          },
          {
            head: "",
            narrow: "acts",
            cell: (category) => (
              <span class="row-actions">
                {may("updateCategory") && (
                  <RowButton text="Edit" of={category.name} onClick={() => setTask({ kind: "edit", category })} />
                )}
                {may("deleteCategory") && countIn(figures, category.id) !== 0 && (
                  <RowButton
                    text="Merge into…"
                    of={category.name}
                    onClick={() => setTask({ kind: "merge", category })}
                  />
                )}
                {may("deleteCategory") && countIn(figures, category.id) === 0 && (
                  <RowButton text="Delete" of={category.name} onClick={() => askToDelete(petstore, category)} />
                )}
              </span>
            ),
          },
        ]}
        empty={
          <>
            <p>There are no categories yet. Each animal belongs to one.</p>
            {may("createCategory") && (
              <button type="button" class="main" onClick={add}>
                Add the first category
              </button>
            )}
          </>
        }
      />
      {task?.kind === "add" && <AddCategory onClose={close} />}
      {task?.kind === "edit" && <EditCategory of={task.category} onClose={close} />}
      {task?.kind === "merge" && <MergeCategory of={task.category} onClose={close} />}
    </Page>
  );
}

/** The id is last, because the service assigns one. */
const newFields = createCategoryBody.toSorted((one, other) => +(one.name === "id") - +(other.name === "id"));

interface TaskProps {
  readonly of: Category;
  readonly onClose: () => void;
}

function AddCategory({ onClose }: Pick<TaskProps, "onClose">) {
  const { petstore } = useSession();
  const action = useAction(async (body: NewCategory, retryOptions) => {
    const { name } = await petstore.createCategory(body, retryOptions);
    say(`${name} added`);
    invalidate(CATEGORIES);
  });
  return (
    <FormDialog title="Add a category" onClose={onClose} fields={newFields} action={action} submit="Add category" />
  );
}

function EditCategory({ of: category, onClose }: TaskProps) {
  const { petstore } = useSession();
  const action = useAction(async (body: CategoryPatch) => {
    const { name } = await petstore.updateCategory(category.id, body);
    say(`${name} saved`);
    invalidate(CATEGORIES);
  });
  return (
    <FormDialog
      title="Edit category"
      fields={updateCategoryBody}
      values={category}
      changesOnly
      action={action}
      submit="Save"
      onClose={onClose}
    />
  );
}

const moveControls = { moveTo: CategoryControl };

/** Of more animals, a merge cannot be undone: each of them would be moved back by a request. */
const MOST_UNDONE = 500;

/** The animals of a category; undefined if they are too many to move back. */
async function animalsIn(petstore: Petstore, categoryId: bigint): Promise<Pet[] | undefined> {
  const pets: Pet[] = [];
  for await (const pet of petstore.listPets({ categoryId, limit: 100 })) {
    if (pets.length === MOST_UNDONE) return undefined;
    pets.push(pet);
  }
  return pets;
}

/** Adds a deleted category again, as long as its name is free, and moves its animals back. */
async function restore(petstore: Petstore, category: Category, pets: readonly Pet[] = []): Promise<void> {
  const { id, name, metadata } = category;
  try {
    await petstore.createCategory({ id, name, ...(metadata && { metadata }) });
    await each(pets, async (pet) => showPet(await petstore.updatePet(pet.id, { categoryId: id })));
  } catch (error) {
    sayFailure(name, error);
  }
  invalidate(CATEGORIES, PETS);
}

/** Moves all animals of a category to another one, and deletes it. */
function MergeCategory({ of: category, onClose }: TaskProps) {
  const { petstore } = useSession();
  const { data: figures } = useFigures();
  const { data: known } = useCategories();
  const count = countIn(figures, category.id);
  const isFinal = count !== undefined && count > MOST_UNDONE;
  const categoryIdOf = useCategoryId();
  const action = useAction(async ({ moveTo: chosen }: { readonly moveTo: bigint }) => {
    const moveTo = await categoryIdOf(chosen);
    const pets = await animalsIn(petstore, category.id);
    await petstore.deleteCategory(category.id, { moveTo });
    invalidate(CATEGORIES, PETS);
    const into = known?.get(moveTo)?.name ?? "the new category";
    say(`${category.name} merged into ${into}`, pets && (() => void restore(petstore, category, pets)));
  });
  return (
    <FormDialog
      title={`Merge ${category.name} into another category`}
      fields={deleteCategoryQuery.map((field) =>
        changed(field, { label: "Merge into", isRequired: true, except: category.id }),
      )}
      controls={moveControls}
      action={action}
      submit={count === undefined ? "Merge" : `Merge ${countOf(count, "animal")}`}
      isFinal={isFinal}
      onClose={onClose}
    >
      <p class="intro fine">
        {count === undefined ? "All its animals move" : `${countOf(count, "animal")} ${count === 1 ? "moves" : "move"}`}{" "}
        to the other category, and <bdi>{category.name}</bdi> is deleted. Past sales keep its name.
      </p>
      {isFinal && <p class="intro note bad">This cannot be undone.</p>}
    </FormDialog>
  );
}

/** Deletes a category without animals, after a question. */
function askToDelete(petstore: Petstore, category: Category): void {
  const { id, name } = category;
  askFirst({
    title: `Delete ${name}?`,
    text: "It has no animals. Past sales keep its name.",
    submit: "Delete category",
    async run() {
      await petstore.deleteCategory(id);
      say(`${name} deleted`, () => void restore(petstore, category));
      invalidate(CATEGORIES, PETS);
    },
  });
}
