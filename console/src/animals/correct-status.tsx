import type { Pet, PetPatch, PetStatus } from "petstore-client";
import { changed } from "../contract.ts";
import { updatePetBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { setStatus } from "./pets.ts";

const fields = updatePetBody
  .filter(({ name }) => name === "status")
  .map((field) => changed(field, { isRequired: true }));

interface CorrectStatusProps {
  readonly of: readonly Pet[];
  readonly onClose: () => void;
}

/** Sets the status of animals by hand, without an order. */
export function CorrectStatus({ of: pets, onClose }: CorrectStatusProps) {
  const { petstore } = useSession();
  const action = useAction(({ status }: PetPatch) => setStatus(petstore, pets, status as PetStatus));
  const [first, ...others] = pets;
  return (
    <FormDialog
      title="Correct the status"
      fields={fields}
      values={{ status: others.every(({ status }) => status === first?.status) ? first?.status : undefined }}
      action={action}
      submit="Correct"
      onClose={onClose}
    >
      <p class="intro fine">
        This only corrects what the list says. It is no sale: nothing is counted, and no price and no buyer are kept.
      </p>
    </FormDialog>
  );
}
