import type { Category, CategoryPatch, DeleteCategoryQuery, NewCategory } from "petstore-client";
import { useState } from "preact/hooks";
import { createCategoryBody, deleteCategoryQuery, updateCategoryBody } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { CATEGORIES, useCategories } from "../shop/categories.ts";
import { CategoryControl } from "../shop/category-name.tsx";
import { countIn, useFigures } from "../shop/figures.ts";
import { PETS } from "../shop/pets.ts";
import { useShortcut } from "../shortcuts.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form/form.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { say } from "../ui/toasts.tsx";
import { numberOf } from "../ui/words.ts";

type Task = { readonly kind: "add" } | { readonly kind: "edit" | "delete"; readonly category: Category };

/** The categories of the shop. */
export function Categories() {
  const may = useMay();
  const { data, error, reload } = useCategories();
  const { data: figures } = useFigures();
  const [task, setTask] = useState<Task>();
  const add = () => setTask({ kind: "add" });
  const close = () => setTask(undefined);
  useShortcut("n", "Add a category", may("createCategory") ? add : undefined);
  return (
    <Page
      title="Categories"
      actions={
        may("createCategory") && (
          <button type="button" class="main" onClick={add}>
            Add category
          </button>
        )
      }
    >
      <Table<Category>
        label="Categories"
        items={data && [...data.values()]}
        keyOf={({ id }) => String(id)}
        error={error}
        retry={reload}
        columns={[
          {
            head: "Name",
            isBroad: true,
            cell: ({ id, name }) => (
              <Link to="/animals" query={{ category: String(id) }} class="title">
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          {
            head: "Animals",
            isNumber: true,
            cell: ({ id }) => {
              const count = countIn(figures, id);
              return count !== undefined && numberOf(count);
            },
          },
          { head: "Id", isWide: true, isNumber: true, cell: ({ id }) => String(id) },
          {
            head: "",
            cell: (category) => (
              <span class="row-actions">
                {may("updateCategory") && (
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => setTask({ kind: "edit", category })}
                    aria-label={`Edit ${category.name}`}
                  >
                    Edit
                  </button>
                )}
                {may("deleteCategory") && (
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => setTask({ kind: "delete", category })}
                    aria-label={`Delete ${category.name}`}
                  >
                    Delete
                  </button>
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
      {task?.kind === "edit" && <EditCategory category={task.category} onClose={close} />}
      {task?.kind === "delete" && <DeleteCategory category={task.category} onClose={close} />}
    </Page>
  );
}

/** The id is last, because the service assigns one. */
const newFields = createCategoryBody.toSorted((one, other) => +(one.name === "id") - +(other.name === "id"));

interface TaskProps {
  readonly category: Category;
  readonly onClose: () => void;
}

function AddCategory({ onClose }: Pick<TaskProps, "onClose">) {
  const { petstore } = useSession();
  const action = useAction(async (body: NewCategory) => {
    const { name } = await petstore.createCategory(body);
    say(`${name}: added`);
    invalidate(CATEGORIES);
  });
  return (
    <Dialog title="Add a category" onClose={onClose}>
      <Form fields={newFields} action={action} submit="Add category" onDone={onClose} onCancel={onClose} />
    </Dialog>
  );
}

function EditCategory({ category, onClose }: TaskProps) {
  const { petstore } = useSession();
  const action = useAction(async (body: CategoryPatch) => {
    const { name } = await petstore.updateCategory(category.id, body);
    say(`${name}: saved`);
    invalidate(CATEGORIES);
  });
  return (
    <Dialog title="Edit category" onClose={onClose}>
      <Form
        fields={updateCategoryBody}
        values={category as unknown as Record<string, unknown>}
        changesOnly
        action={action}
        submit="Save"
        onDone={onClose}
        onCancel={onClose}
      />
    </Dialog>
  );
}

const moveControls = { moveTo: CategoryControl };

/** Deletes a category. If it has animals, the user must choose another category for them. */
function DeleteCategory({ category, onClose }: TaskProps) {
  const { petstore } = useSession();
  const action = useAction(async (query: DeleteCategoryQuery) => {
    await petstore.deleteCategory(category.id, query);
    say(`${category.name}: deleted`);
    invalidate(CATEGORIES, PETS);
  });
  return (
    <Dialog title={`Delete ${category.name}?`} onClose={onClose}>
      <Form
        fields={deleteCategoryQuery}
        controls={moveControls}
        action={action}
        submit="Delete category"
        onDone={onClose}
        onCancel={onClose}
      />
    </Dialog>
  );
}
