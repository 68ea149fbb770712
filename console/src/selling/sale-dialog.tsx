import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cachePets } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { ORDERS, reserve, sayDone, sell } from "../orders/orders.ts";
import { Until, useUntil } from "../orders/until.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { priceIn } from "../ui/money.ts";
import { TextField } from "../ui/text-field.tsx";
import { PetLine, PetPicker, type Picked } from "./pet-picker.tsx";
import { PriceField, typedPrice } from "./price-field.tsx";
import { canSell, openOrderOf, sellOne, useCurrency } from "./sale.ts";
import { useSeller, useSellers } from "./sellers.ts";

interface SaleDialogProps {
  /** The animal; by default, one is picked first. */
  readonly of: Picked | undefined;
  readonly isReserving: boolean;
  readonly onClose: () => void;
}

/** Picks an animal, then sells it, or reserves it for a buyer. */
export function SaleDialog({ of: given, isReserving: reservesFirst, onClose }: SaleDialogProps) {
  const { petstore } = useSession();
  const { data: categories } = useCategories();
  const [picked, setPicked] = useState(given);
  const [isReserving, setReserving] = useState(reservesFirst);
  const [reference, setReference] = useState("");
  const [seller, setSeller, keepSeller] = useSeller();
  const sellers = useSellers();
  const [date, setDate] = useState("");
  const until = useUntil();
  const usual = useCurrency();
  const [typed, setPrice] = useState<ReturnType<typeof typedPrice>>();
  const first = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  // What was picked is sold or reserved in the first field.
  useLayoutEffect(
    () => (picked ? first.current : form.current?.querySelector("input"))?.focus(),
    [picked, isReserving],
  );
  const order = picked && openOrderOf(picked);
  const value = typed ?? typedPrice(order?.price ?? picked?.pet.price, usual);
  const price = priceIn(value.amount, value.currency);
  const isWrong = value.amount.trim() !== "" && !price;
  const action = useAction(async (one: Picked, retryOptions) => {
    cachePets([one.pet]);
    const body = { ...(reference && { reference }) };
    const sale = { ...body, price: price ?? null, ...(seller.trim() && { seller: seller.trim() }) };
    const done = isReserving
      ? await petstore.placeStoreOrder({ petId: one.pet.id, ...body, ...until(date) }, retryOptions)
      : await sellOne(petstore, one, sale, retryOptions);
    if (!isReserving) keepSeller();
    sayDone(petstore, done, isReserving ? reserve : sell);
    invalidate(ORDERS, PETS);
  });
  const pick = (one: Picked | undefined) => {
    setPicked(one);
    setPrice(undefined);
  };
  const verb = isReserving ? "Reserve" : "Sell";
  const act = picked ? `${verb} ${picked.pet.name}` : verb;
  return (
    <Dialog title={given ? act : verb} onClose={onClose}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (picked && !isWrong) void action.run(picked).then((isDone) => isDone && onClose());
        }}
      >
        {!picked && (
          <PetPicker pick={pick} isChoosable={isReserving ? ({ pet }) => pet.status === "available" : canSell} />
        )}
        {picked && !given && (
          <p class="picked">
            <PetLine of={picked} categories={categories} />
            <button type="button" class="link" onClick={() => pick(undefined)}>
              Change
            </button>
          </p>
        )}
        {picked && (
          <div class="pair">
            {!isReserving && <PriceField value={value} change={setPrice} isWrong={isWrong} field={first} />}
            {order ? (
              <p class="fine">
                From its reservation{order.reference ? <bdi>, {order.reference}</bdi> : ""}, which keeps its reference.
              </p>
            ) : (
              <TextField
                label={isReserving ? "For whom" : "Reference"}
                value={reference}
                change={setReference}
                placeholder={isReserving ? "Name or receipt" : "Receipt 118"}
                field={isReserving ? first : undefined}
              />
            )}
          </div>
        )}
        {picked && !isReserving && (
          <TextField label="Seller" value={seller} change={setSeller} maxLength={100} choices={sellers} />
        )}
        {picked && isReserving && <Until value={date} choose={setDate} canBeShort />}
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
          <button type="submit" class="main" disabled={!picked || action.isRunning}>
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
