import type { StoreOrder } from "petstore-client";
import { useRef, useState } from "preact/hooks";
import { cachePets } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import { ORDERS, saySeveralSold } from "../orders/orders.ts";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { moneyOf, priceIn } from "../ui/money.ts";
import { TextField } from "../ui/text-field.tsx";
import { countOf } from "../ui/words.ts";
import type { Picked } from "./pet-picker.tsx";
import { PriceField, type TypedPrice, typedPrice } from "./price-field.tsx";
import { openOrderOf, type SaleBody, sellOne, useCurrency } from "./sale.ts";
import { useSeller, useSellers } from "./sellers.ts";

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
  const usual = useCurrency();
  const [typed, setTyped] = useState<ReadonlyMap<bigint, TypedPrice>>(new Map());
  const [reference, setReference] = useState("");
  const [seller, setSeller, keepSeller] = useSeller();
  const sellers = useSellers();
  const { current: sold } = useRef<StoreOrder[]>([]);
  const rest = given.filter(({ pet }) => sold.every(({ petId }) => petId !== pet.id));
  const lines = rest.map((one) => {
    const value = typed.get(one.pet.id) ?? typedPrice(openOrderOf(one)?.price ?? one.pet.price, usual);
    const price = priceIn(value.amount, value.currency);
    return { one, value, price, isWrong: value.amount.trim() !== "" && !price };
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
          if (lines.some(({ isWrong }) => isWrong)) return;
          const sales = lines.map(({ one, price }) => ({
            one,
            body: {
              ...(reference && { reference }),
              price: price ?? null,
              ...(seller.trim() && { seller: seller.trim() }),
            },
          }));
          void action.run(sales).then((isDone) => isDone && onClose());
        }}
      >
        <ul class="several">
          {lines.map(({ one: { pet }, value, isWrong }) => (
            <li key={pet.id}>
              <bdi class="title">{pet.name}</bdi>
              <PriceField
                of={pet.name}
                value={value}
                change={(price) => setTyped(new Map([...typed, [pet.id, price]]))}
                isWrong={isWrong}
              />
            </li>
          ))}
        </ul>
        <div class="pair">
          <TextField label="Reference" value={reference} change={setReference} placeholder="Receipt 118" />
          <TextField label="Seller" value={seller} change={setSeller} maxLength={100} choices={sellers} />
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
