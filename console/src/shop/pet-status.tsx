import type { Pet, PetStatus } from "petstore-client";
import { useState } from "preact/hooks";
import { choicesOf } from "../contract.ts";
import { updatePetBody } from "../generated/contract.ts";
import { useMay, useSession } from "../session/session.ts";
import { Select } from "../ui/select.tsx";
import { Status } from "../ui/status.tsx";
import { wordOf } from "../ui/words.ts";
import { setStatus } from "./pets.ts";

const choices = choicesOf(updatePetBody, "status").map((status) => [status, wordOf(status)] as const);

/** The status of an animal. The user can change it here if the key permits it. */
export function StatusSelect({ of: pet }: { readonly of: Pet }) {
  const { petstore } = useSession();
  const may = useMay();
  const [sent, setSent] = useState<PetStatus>();
  if (!may("updatePet")) return <Status of={pet.status} />;
  const change = async (status: PetStatus) => {
    setSent(status);
    await setStatus(petstore, [pet], status);
    setSent(undefined);
  };
  const shown = sent ?? pet.status;
  return (
    <span class={`status ${shown ?? ""}`}>
      <Select
        aria-label={`Status of ${pet.name}`}
        disabled={sent !== undefined}
        value={shown ?? ""}
        choose={(status) => void change(status as PetStatus)}
        choices={shown ? choices : [["", "No status"], ...choices]}
      />
    </span>
  );
}
