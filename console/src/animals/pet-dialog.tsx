import type { NewPet, Pet, PetPatch, PetstoreError, Result } from "petstore-client";
import { useEffect, useState } from "preact/hooks";
import { CategoryControl, useCategoryId } from "../categories/category-name.tsx";
import { Names } from "../categories/new-categories.tsx";
import type { FieldDescription } from "../contract.ts";
import { FieldValue } from "../events/field-value.tsx";
import { createPetBody, updatePetBody } from "../generated/contract.ts";
import { type Action, useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { PriceControl, priceField } from "../shop/price-control.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Form } from "../ui/form/form.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Skeleton } from "../ui/table.tsx";
import { say } from "../ui/toasts.tsx";
import { useWatchable, Watchable } from "../watchable.ts";
import { PETS, showPet } from "./pets.ts";

const isAdding = new Watchable(false);

/** Opens the dialog in which animals are added. */
export const startAdding = (): void => isAdding.set(true);

/** The dialog for adding animals, wherever it was started. */
export function Adding() {
  const close = () => isAdding.set(false);
  useEffect(() => close, []);
  return useWatchable(isAdding) ? <AddPet onClose={close} /> : null;
}

const controls = { categoryId: CategoryControl, price: PriceControl };
/** The price follows the name, the category and the status. */
const withPrice = (fields: readonly FieldDescription[]) => fields.toSpliced(3, 0, priceField);
const [newFields, changedFields] = [withPrice(createPetBody), withPrice(updatePetBody)];
const kept = ["categoryId"];

/** Adds an animal, or several of the same category. */
function AddPet({ onClose }: { readonly onClose: () => void }) {
  const { petstore } = useSession();
  const [added, setAdded] = useState<readonly string[]>([]);
  const categoryIdOf = useCategoryId();
  const action = useAction(async (body: NewPet, retryOptions) => {
    const categoryId = await categoryIdOf(body.categoryId);
    const { name } = await petstore.createPet({ ...body, categoryId }, retryOptions);
    setAdded([name, ...added]);
    say(`${name} added`);
    invalidate(PETS);
  });
  return (
    <FormDialog
      title="Add an animal"
      onClose={onClose}
      fields={newFields}
      values={{ status: "available" }}
      controls={controls}
      action={action}
      submit="Add animal"
      kept={kept}
      cancel={added.length > 0 ? "Done" : "Cancel"}
    >
      <p class="intro fine" role="status">
        {added.length > 0 ? (
          <>
            <Names of={added} /> added
          </>
        ) : (
          "“Save and add another” keeps the category."
        )}
      </p>
    </FormDialog>
  );
}

/** Changes an animal. If another user has changed it since the form was opened, both versions are shown. */
export function EditPet({ id, onClose }: { readonly id: bigint; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const [pet, setPet] = useState<Result<Pet>>();
  // `getPet` is deprecated, and lists have no ETag; a patch without changes returns one.
  const read = () => petstore.updatePet(id, {});
  const reading = useAction(async () => setPet(await read())); // once: a form must not change while the user edits it
  useEffect(() => void reading.run(), []);
  const [conflict, setConflict] = useState<{ theirs: Result<Pet>; mine: PetPatch }>();
  const save = async (body: PetPatch, seen: Result<object> | undefined) => {
    if (!seen || Object.keys(body).length === 0) return;
    try {
      const changed = await petstore.updatePet(id, body, { ifMatch: seen });
      showPet(changed);
      invalidate(`${PETS}/${id}/`);
      say(`${changed.name} saved`);
    } catch (failure) {
      if ((failure as PetstoreError).code === "precondition_failed") setConflict({ theirs: await read(), mine: body });
      throw failure;
    }
  };
  const categoryIdOf = useCategoryId();
  const action = useAction(async (body: PetPatch) => {
    const categoryId = await categoryIdOf(body.categoryId);
    await save(categoryId === undefined ? body : { ...body, categoryId }, pet);
  });
  const again = useAction(async () => {
    if (conflict) await save(conflict.mine, conflict.theirs);
  });
  return (
    <Dialog title="Edit animal" onClose={onClose}>
      <ErrorNote error={reading.error} retry={() => void reading.run()} />
      {reading.isRunning && <Skeleton width={90} />}
      {pet && !conflict && (
        <Form
          fields={changedFields}
          values={pet}
          changesOnly
          controls={controls}
          action={action}
          submit="Save"
          onDone={onClose}
          onCancel={onClose}
        />
      )}
      {conflict && (
        <Conflict
          {...conflict}
          action={again}
          keepTheirs={() => {
            showPet(conflict.theirs);
            onClose();
          }}
          saveMine={async () => (await again.run()) && onClose()}
        />
      )}
    </Dialog>
  );
}

interface ConflictProps {
  readonly theirs: Pet;
  readonly mine: PetPatch;
  readonly action: Action;
  readonly keepTheirs: () => void;
  readonly saveMine: () => unknown;
}

/** Two versions of an animal, of which the user must choose one. */
function Conflict({ theirs, mine, action, keepTheirs, saveMine }: ConflictProps) {
  return (
    <div class="conflict">
      <p role="alert">Somebody else changed this animal while you were editing it. Your change is not saved.</p>
      <table aria-label="Both versions">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Now</th>
            <th scope="col">Your change</th>
          </tr>
        </thead>
        <tbody>
          {changedFields.map(({ name, label }) => (
            <tr key={name}>
              <th scope="row">{label}</th>
              <td>
                <FieldValue name={name} value={theirs[name as keyof Pet]} />
              </td>
              <td>
                {name in mine ? (
                  <FieldValue name={name} value={mine[name as keyof PetPatch]} />
                ) : (
                  <span class="fine">not changed</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ErrorNote error={action.error} />
      <footer>
        <button type="button" onClick={keepTheirs}>
          Keep it as it is now
        </button>
        <button type="button" class="main" disabled={action.isRunning} onClick={() => void saveMine()}>
          Save my change
        </button>
      </footer>
    </div>
  );
}
