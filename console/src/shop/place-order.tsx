import type { NewStoreOrder } from "petstore-client";
import { useId } from "preact/hooks";
import { changed } from "../contract.ts";
import { placeStoreOrderBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import type { ControlProps } from "../ui/form/field.tsx";
import { Form } from "../ui/form/form.tsx";
import { say } from "../ui/toasts.tsx";
import { ORDERS, orderName } from "./orders.ts";
import { PETS } from "./pets.ts";

/** The number of an animal. It suggests the names of the newest available animals. */
function PetControl({ id, entry, change, described }: ControlProps) {
  const { petstore } = useSession();
  const list = useId();
  const { data } = useQuery(`${PETS}?suggested`, () =>
    petstore.listPets({ status: "available", sort: "-id", limit: 100 }).page(),
  );
  return (
    <>
      <input
        id={id}
        list={list}
        inputMode="numeric"
        autocomplete="off"
        value={entry as string}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        {...described}
      />
      <datalist id={list}>
        {data?.map((pet) => (
          <option key={pet.id} value={String(pet.id)}>
            {pet.name}
          </option>
        ))}
      </datalist>
    </>
  );
}

const controls = { petId: PetControl };
const fields = placeStoreOrderBody.map((field) =>
  field.name === "petId"
    ? changed(field, { label: "Animal", hint: "Choose one of the list, or enter its id." })
    : field,
);

/** Reserves an animal. */
export function PlaceOrder({ petId, onClose }: { readonly petId?: bigint; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const action = useAction(async (body: NewStoreOrder) => {
    const order = await petstore.placeStoreOrder({ ...body, ...(petId !== undefined && { petId }) });
    say(`${orderName(order)}: placed`);
    invalidate(ORDERS, PETS);
  });
  return (
    <Dialog title="Place an order" onClose={onClose}>
      <Form
        fields={fields.filter(({ name }) => petId === undefined || name !== "petId")}
        controls={controls}
        action={action}
        submit="Place order"
        onDone={onClose}
        onCancel={onClose}
      />
    </Dialog>
  );
}
