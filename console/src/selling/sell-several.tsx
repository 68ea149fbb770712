import type { StoreOrder } from "petstore-client";
import { useRef, useState } from "preact/hooks";
import { cachePets, referenceOf } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import { changed } from "../contract.ts";
import { ORDERS, saySeveralSold } from "../orders/orders.ts";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { PriceControl, priceField } from "../shop/price-control.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Field } from "../ui/form/field.tsx";
import { type Entry, entryOf, faultOf } from "../ui/form/values.ts";
import { moneyOf } from "../ui/money.ts";
import { countOf } from "../ui/words.ts";
import type { Picked } from "./pet-picker.tsx";
import { openOrderOf, priceOf, referenceField, type SaleBody, sellOne, textsOf, useSeller } from "./sale.ts";

interface Sale {
  readonly one: Picked;
  readonly body: SaleBody;
}

interface SellSeveralProps {
  readonly of: readonly Picked[];
  readonly onClose: () => void;
}

/** Sells several animals: what each costs, and what that makes together. If one cannot be sold, the rest stays. */
export function SellSeveral({ of: given, onClose }: SellSeveralProps) {
  const { petstore } = useSession();
  const [typed, setTyped] = useState<ReadonlyMap<bigint, Entry>>(new Map());
  const [reference, setReference] = useState<Entry>("");
  const [sellerField, seller, setSeller, keepSeller] = useSeller();
  const { current: sold } = useRef<StoreOrder[]>([]);
  const rest = given.filter(({ pet }) => sold.every(({ petId }) => petId !== pet.id));
  const lines = rest.map((one) => {
    const entry = typed.get(one.pet.id) ?? entryOf(priceField, openOrderOf(one)?.price ?? one.pet.price);
    return { one, entry, price: priceOf(entry), fault: faultOf(priceField, entry) };
  });
  const action = useAction(async (sales: readonly Sale[], { idempotencyKey }) => {
    cachePets(given.map(({ pet }) => pet));
    try {
      for (const { one, body } of sales)
        sold.push(await sellOne(petstore, one, body, { idempotencyKey: `${idempotencyKey}-${one.pet.id}` }));
    } finally {
      invalidate(ORDERS, PETS);
    }
    keepSeller();
    saySeveralSold(petstore, sold);
  });
  const sums = new Map<string, number>();
  for (const { price } of lines) if (price) sums.set(price.currency, (sums.get(price.currency) ?? 0) + price.amount);
  const sum = [...sums].map(([currency, amount]) => moneyOf({ amount, currency })).join(" + ");
  const leave = () => {
    if (sold.length > 0 && rest.length > 0) saySeveralSold(petstore, sold);
    onClose();
  };
  return (
    <Dialog title={`Sell ${countOf(rest.length, "animal")}`} onClose={leave}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (lines.some(({ fault }) => fault)) return;
          const sales = lines.map(({ one, price }) => ({ one, body: { ...textsOf({ reference, seller }), price } }));
          void action.run(sales).then((isDone) => isDone && onClose());
        }}
      >
        <ul class="several">
          {lines.map(({ one: { pet }, entry, fault }) => (
            <li key={pet.id}>
              <span>
                <bdi class="title">{pet.name}</bdi> <bdi class="fine">{referenceOf(pet)}</bdi>
              </span>
              <Field
                field={changed(priceField, { label: `Price of ${pet.name}` })}
                control={PriceControl}
                entry={entry}
                change={(price) => setTyped(new Map([...typed, [pet.id, price]]))}
                fault={fault}
              />
            </li>
          ))}
        </ul>
        <div class="pair">
          <Field field={referenceField} entry={reference} change={setReference} />
          <Field field={sellerField} entry={seller} change={setSeller} />
        </div>
        <p class="sum-of" role="status">
          <span>Together</span> <strong>{sum || "no price"}</strong>
        </p>
        <ErrorNote error={action.error} />
        <footer>
          <button type="button" class="wide" onClick={leave}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={action.isRunning}>
            {`Sell ${countOf(rest.length, "animal")}`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
