import type { Pet, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { actOn, orderActions } from "../orders/orders.ts";
import { go, usePlace } from "../router.tsx";
import { startReservation, startSale } from "../selling/sell.tsx";
import { type OpenSession, useMay, useSession } from "../session/session.ts";
import { askFirst } from "../ui/confirm.tsx";
import { Menu } from "../ui/menu.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { CorrectStatus } from "./correct-status.tsx";
import { EditPet } from "./pet-dialog.tsx";
import { cachePets } from "./pet-name.tsx";
import { deletePets, whatOf } from "./pets.ts";

/** A dialog about animals. */
export interface PetTask {
  readonly kind: "edit" | "correct";
  readonly pets: readonly Pet[];
}

/** The open dialog about animals. It belongs to a page, because a row can leave its list while the dialog is open. */
export function PetDialog({ of: task, onClose }: { readonly of: PetTask | undefined; readonly onClose: () => void }) {
  const [first] = task?.pets ?? [];
  if (!task || !first) return null;
  if (task.kind === "edit") return <EditPet id={first.id} onClose={onClose} />;
  return <CorrectStatus of={task.pets} onClose={onClose} />;
}

/** True while an order has made the animal what it is: then only the order can change it. */
export const isHeld = (pet: Pet, order: StoreOrder | undefined): boolean =>
  (pet.status === "pending" && order?.status === "placed") || (pet.status === "sold" && order?.status === "confirmed");

/** Deletes animals after a question. It can be undone for a moment. */
export function askToDelete(session: OpenSession, pets: readonly Pet[], then = () => {}): void {
  askFirst({
    title: `Delete ${whatOf(pets)}?`,
    text: "All that is noted goes too, for good. What was sold stays among the sales.",
    submit: pets.length === 1 ? "Delete" : `Delete ${whatOf(pets)}`,
    run() {
      deletePets(session, pets);
      then();
    },
  });
}

interface PetActionsProps {
  readonly of: Pet;
  /** Its newest order. */
  readonly order: StoreOrder | undefined;
  readonly begin: (task: PetTask) => void;
}

/** What can be done with an animal as it is now. */
export function PetActions({ of: pet, order, begin }: PetActionsProps) {
  const session = useSession();
  const { petstore } = session;
  const may = useMay();
  const { path } = usePlace();
  const [isRunning, setRunning] = useState(false);
  const held = isHeld(pet, order) ? order : undefined;
  const isAvailable = pet.status === "available";
  return (
    <span class="row-actions">
      {may("placeStoreOrder") && (isAvailable || held?.status === "placed") && (
        <RowButton isFirst text="Sell" of={pet.name} onClick={() => startSale(pet, held)} disabled={isRunning} />
      )}
      {may("placeStoreOrder") && isAvailable && (
        <RowButton text="Reserve" of={pet.name} onClick={() => startReservation(pet)} disabled={isRunning} />
      )}
      {held &&
        (orderActions[held.status] ?? [])
          .filter(({ operation }) => operation !== "confirmStoreOrder" && may(operation))
          .map((action) => (
            <RowButton
              key={action.name}
              text={action.name}
              of={pet.name}
              disabled={isRunning}
              onClick={async () => {
                setRunning(true);
                cachePets([pet]);
                await actOn(petstore, held, action);
                setRunning(false);
              }}
            />
          ))}
      <Menu
        of={pet.name}
        items={[
          may("updatePet") && ["Edit", () => begin({ kind: "edit", pets: [pet] })],
          may("updatePet") && !held && ["Correct status…", () => begin({ kind: "correct", pets: [pet] })],
          may("deletePet") &&
            held?.status !== "placed" && [
              "Delete…",
              () => askToDelete(session, [pet], () => path !== "/animals" && go("/animals")),
              true,
            ],
        ]}
      />
    </span>
  );
}
