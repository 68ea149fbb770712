import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cachePets } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import type { FieldDescription } from "../contract.ts";
import { ORDERS, reserve, sayDone, sell } from "../orders/orders.ts";
import { Until, untilText, useUntil } from "../orders/until.tsx";
import { isCertain, useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { PriceControl, priceField } from "../shop/price-control.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Field } from "../ui/form/field.tsx";
import { type Entry, entryOf, faultOf } from "../ui/form/values.ts";
import { PetLine, PetPicker, type Picked } from "./pet-picker.tsx";
import {
  asItIs,
  canReserve,
  canSell,
  openOrderOf,
  priceOf,
  referenceField,
  sellOne,
  textsOf,
  useSeller,
} from "./sale.ts";

interface SaleDialogProps {
  /** The animal; by default, one is picked first. */
  readonly of: Picked | undefined;
  readonly isReserving: boolean;
  readonly onClose: () => void;
}

const buyerField: FieldDescription = { name: "reference", label: "For whom", placeholder: "Name or receipt" };

/** Picks an animal, then sells it, or reserves it for a buyer. */
export function SaleDialog({ of: given, isReserving: reservesFirst, onClose }: SaleDialogProps) {
  const { petstore } = useSession();
  const { data: categories } = useCategories();
  const [picked, setPicked] = useState(given);
  const [isReserving, setReserving] = useState(reservesFirst);
  const [reference, setReference] = useState<Entry>("");
  const [sellerField, seller, setSeller, keepSeller] = useSeller();
  const [date, setDate] = useState("");
  const until = useUntil();
  const [typed, setPrice] = useState<Entry>();
  const form = useRef<HTMLFormElement>(null);
  // What was picked is sold or reserved in the first field. What is typed there replaces the price of the animal.
  useLayoutEffect(() => {
    const field = form.current?.querySelector("input");
    field?.focus();
    field?.select();
  }, [picked, isReserving]);
  const order = picked && !isReserving ? openOrderOf(picked) : undefined;
  const entry = typed ?? entryOf(priceField, order?.price ?? picked?.pet.price);
  const fault = faultOf(priceField, entry);
  const action = useAction(async (one: Picked, retryOptions) => {
    cachePets([one.pet]);
    const body = textsOf({ reference });
    const sale = { ...body, ...textsOf({ seller }), price: priceOf(entry) };
    const done = await (isReserving
      ? petstore.placeStoreOrder({ petId: one.pet.id, ...body, ...until(date) }, retryOptions)
      : sellOne(petstore, one, sale, retryOptions)
    ).catch(async (error: unknown) => {
      if (isCertain(error)) setPicked(await asItIs(petstore, one).catch(() => one)); // somebody else may have been faster
      throw error;
    });
    if (!isReserving) keepSeller();
    const buyer = body["reference"] ? ` for ${body["reference"]}` : "";
    const told = isReserving && `${reserve.done}${buyer} ${untilText(date, done)}`;
    sayDone(petstore, done, told ? { ...reserve, done: told } : sell);
    invalidate(ORDERS, PETS);
  });
  const pick = (one: Picked | undefined) => {
    setPicked(one);
    setPrice(undefined);
  };
  const canBe = isReserving ? canReserve : canSell;
  const verb = isReserving ? "Reserve" : "Sell";
  const act = picked ? `${verb} ${picked.pet.name}` : verb;
  return (
    <Dialog title={act} onClose={onClose}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (picked && (isReserving || !fault)) void action.run(picked).then((isDone) => isDone && onClose());
        }}
      >
        {!picked && <PetPicker pick={pick} isChoosable={canBe} />}
        {picked && (
          <p class="picked">
            <PetLine of={picked} categories={categories} withoutPrice={!isReserving} />
            <button type="button" class="link" onClick={() => pick(undefined)}>
              Change
            </button>
          </p>
        )}
        {picked && (
          <div class="pair">
            {!isReserving && (
              <Field field={priceField} control={PriceControl} entry={entry} change={setPrice} fault={fault} />
            )}
            {!order && (
              <Field field={isReserving ? buyerField : referenceField} entry={reference} change={setReference} />
            )}
          </div>
        )}
        {picked && !isReserving && <Field field={sellerField} entry={seller} change={setSeller} />}
        {picked && isReserving && <Until value={date} choose={setDate} />}
        <ErrorNote error={action.error} />
        <footer>
          {!order && !reservesFirst && (
            <button type="button" class="quiet" onClick={() => setReserving(!isReserving)}>
              {isReserving ? "Sell instead" : "Reserve instead"}
            </button>
          )}
          <button type="button" class="wide" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={!picked || !canBe(picked) || action.isRunning}>
            <span translate={false}>{act}</span>
            <kbd class="wide" aria-hidden="true">
              ↵
            </kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
