import type { NewStoreOrder, Pet } from "petstore-client";
import { useState } from "preact/hooks";
import { changed } from "../contract.ts";
import { placeStoreOrderBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import type { ControlProps } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Segments } from "../ui/segments.tsx";
import { say } from "../ui/toasts.tsx";
import { useId } from "../ui/use-id.ts";
import { changeOrder, ORDERS, sell } from "./orders.ts";
import { cacheNames, nameOf } from "./pet-name.tsx";
import { FILTERED, PETS } from "./pets.ts";

/** The id of an animal. It suggests those of the newest available animals, with their names. */
function PetControl({ id, entry, change, described }: ControlProps) {
  const { petstore } = useSession();
  const list = useId();
  const { data } = useQuery(`${FILTERED} suggested`, async () => {
    const pets = await petstore.listPets({ status: "available", sort: "-id", limit: 100 }).page();
    cacheNames(pets);
    return pets;
  });
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
    ? changed(field, { label: "Animal", hint: "Choose one from the list, or enter its id." })
    : field,
);
const ways = [
  ["Sell", "Sell now"],
  ["Reserve", "Reserve"],
] as const;

/** Sells an animal, or reserves it for a buyer. Both place an order, which a sale confirms at once. */
export function SellPet({ of: pet, onClose }: { readonly of?: Pet; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const [way, setWay] = useState("Sell");
  const action = useAction(async (body: NewStoreOrder, retryOptions) => {
    if (pet) cacheNames([pet]);
    const order = await petstore.placeStoreOrder({ ...body, ...(pet && { petId: pet.id }) }, retryOptions);
    invalidate(ORDERS, PETS);
    if (way === "Sell") await changeOrder(petstore, order, sell);
    else say(`${nameOf(order.petId)}: reserved`);
  });
  return (
    <FormDialog
      title={`Sell ${pet?.name ?? "an animal"}`}
      fields={fields.filter(({ name }) => !pet || name !== "petId")}
      controls={controls}
      action={action}
      submit={way}
      onClose={onClose}
    >
      <Segments label="Sell or reserve" choices={ways} chosen={way} choose={setWay} />
      <p class="intro fine">
        {way === "Sell" ? "The animal is sold at once." : "Nobody else can buy the animal until the reservation ends."}
      </p>
    </FormDialog>
  );
}
