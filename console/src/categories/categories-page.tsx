import type { Category, CategoryPatch, DeleteCategoryQuery, NewCategory } from "petstore-client";
import { useState } from "preact/hooks";
import { PETS } from "../animals/pets.ts";
import { changed } from "../contract.ts";
import { createCategoryBody, deleteCategoryQuery, updateCategoryBody } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { countIn, useFigures } from "../shop/figures.ts";
import { AddButton } from "../ui/action-button.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Page } from "../ui/page.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { Table } from "../ui/table.tsx";
import { say } from "../ui/toasts.tsx";
import { numberOf } from "../ui/words.ts";
import { CATEGORIES, useCategories } from "./categories.ts";
import { CategoryControl, useCategoryId } from "./category-name.tsx";

type Task = { readonly kind: "add" } | { readonly kind: "edit" | "delete"; readonly category: Category };

/** The categories of the shop. */
export function Categories() {
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
                {may("deleteCategory") && (
                  <RowButton text="Delete" of={category.name} onClick={() => setTask({ kind: "delete", category })} />
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
      {task?.kind === "delete" && <DeleteCategory of={task.category} onClose={close} />}
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

/** Deletes a category. If it has animals, the user must choose another category for them. */
function DeleteCategory({ of: category, onClose }: TaskProps) {
  const { petstore } = useSession();
  const { data: figures } = useFigures();
  const changes = { isRequired: Boolean(countIn(figures, category.id)), except: category.id };
  const categoryIdOf = useCategoryId();
  const action = useAction(async (query: DeleteCategoryQuery) => {
    const moveTo = await categoryIdOf(query.moveTo);
    await petstore.deleteCategory(category.id, moveTo === undefined ? {} : { moveTo });
    say(`${category.name} deleted`);
    invalidate(CATEGORIES, PETS);
  });
  return (
    <FormDialog
      title={`Delete ${category.name}?`}
      fields={deleteCategoryQuery.map((field) => changed(field, changes))}
      controls={moveControls}
      action={action}
      submit="Delete category"
      isFinal
      onClose={onClose}
    />
  );
}
