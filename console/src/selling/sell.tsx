import type { Pet, StoreOrder } from "petstore-client";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { cachePets } from "../animals/pet-name.tsx";
import { PETS } from "../animals/pets.ts";
import { ORDERS, reserve, sayDone, sell } from "../orders/orders.ts";
import { useAction } from "../service/action.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { amountText, priceIn } from "../ui/money.ts";
import { useShortcut } from "../ui/shortcuts.tsx";
import { useId } from "../ui/use-id.ts";
import { useWatchable, Watchable } from "../watchable.ts";
import { PetPicker, type Picked } from "./pet-picker.tsx";

/** The sale whose dialog is open: of an animal, or of one that is chosen there. */
const current = new Watchable<Partial<Picked> | undefined>(undefined);

/** Opens the dialog in which an animal is sold. */
export const startSale = (pet?: Pet, order?: StoreOrder): void => current.set({ ...(pet && { pet }), order });

/** What is available, or reserved, which is sold from its reservation. */
const canSell = ({ pet: { status }, order }: Picked) =>
  status === "available" || (status === "pending" && order?.status === "placed");

/** The button for what a shop does most. `s` does the same on every page. */
export function SellButton() {
  const may = useMay();
  if (!may("placeStoreOrder")) return null;
  return (
    <button type="button" class="main wide" onClick={() => startSale()}>
      <span>Sell</span> <kbd aria-hidden="true">S</kbd>
    </button>
  );
}

/** The dialog of the sale, wherever it was started. */
export function Sale() {
  const may = useMay();
  const started = useWatchable(current);
  const close = () => current.set(undefined);
  useEffect(() => close, []);
  useShortcut("s", "Sell", may("placeStoreOrder") ? () => startSale() : undefined);
  if (!started) return null;
  const { pet, order } = started;
  return <SaleDialog of={pet && { pet, order }} onClose={close} />;
}

/** Sells an animal, or reserves it for a buyer. */
function SaleDialog({ of: given, onClose }: { readonly of: Picked | undefined; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const lastCurrency = useLastCurrency();
  const [picked, pick] = useState(given);
  const [reference, setReference] = useState("");
  const [amount, setAmount] = useState("");
  const [typedCurrency, setCurrency] = useState<string>();
  const currency = typedCurrency ?? lastCurrency;
  const price = priceIn(amount, currency);
  const isWrong = amount.trim() !== "" && !price;
  const order = picked?.order;
  const action = useAction(async (isSale: boolean, retryOptions) => {
    if (!picked) return;
    cachePets([picked.pet]);
    const done = order
      ? await petstore.confirmStoreOrder(order.id, price ? { price } : {}, retryOptions)
      : await petstore.placeStoreOrder(
          {
            petId: picked.pet.id,
            ...(reference && { reference }),
            ...(price && { price }),
            ...(isSale && { confirm: true }),
          },
          retryOptions,
        );
    sayDone(petstore, done, isSale ? sell : reserve);
    invalidate(ORDERS, PETS);
  });
  const send = async (isSale: boolean) =>
    picked && canSell(picked) && !isWrong && (await action.run(isSale)) && onClose();
  return (
    <Dialog title={given ? `Sell ${given.pet.name}` : "Sell"} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(true);
        }}
      >
        {!given && <PetPicker label="Animal" picked={picked} pick={pick} isChoosable={canSell} />}
        <div class="pair">
          <TextField
            label="Price"
            value={amount}
            change={setAmount}
            fault={isWrong && (currency ? "Enter a price such as 129.00." : "Enter a currency such as EUR, too.")}
            inputMode="decimal"
            placeholder={order?.price && amountText(order.price)}
          >
            <input
              class="currency"
              aria-label="Currency"
              placeholder="EUR"
              maxLength={3}
              value={currency}
              onInput={({ currentTarget: { value } }) => setCurrency(value.toUpperCase())}
            />
          </TextField>
          {order ? (
            <p class="fine">
              From its reservation{order.reference ? <bdi>, {order.reference}</bdi> : ""}, which keeps its reference.
            </p>
          ) : (
            <TextField label="Reference" value={reference} change={setReference} placeholder="Receipt 118" />
          )}
        </div>
        <ErrorNote error={action.error} />
        <footer>
          {!order && (
            <button type="button" class="quiet" disabled={!picked || action.isRunning} onClick={() => void send(false)}>
              Reserve instead
            </button>
          )}
          <button type="button" class="wide" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={!picked || action.isRunning}>
            <span translate={false}>{picked ? `Sell ${picked.pet.name}` : "Sell"}</span>
            <kbd class="wide" aria-hidden="true">
              ↵
            </kbd>
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** How many of the last sales are searched for one with a price. */
const SEARCHED = 10;

/** The currency of the last sale that has a price; empty if there is none. */
function useLastCurrency(): string {
  const { petstore } = useSession();
  const may = useMay();
  const { data } = useQuery(may("listStoreOrders") ? `${ORDERS}?last` : undefined, () =>
    petstore.listStoreOrders({ sort: "-confirmedAt", limit: SEARCHED }).page(),
  );
  return data?.find(({ price }) => price)?.price?.currency ?? "";
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (text: string) => void;
  readonly fault?: string | false;
  readonly inputMode?: "decimal";
  readonly placeholder?: string | undefined;
  /** Beside the field. */
  readonly children?: ComponentChildren;
}

/** A text that may be left out. */
function TextField({ label, value, change, fault, children, ...rest }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label} <span class="fine">optional</span>
      </label>
      <div class="beside">
        <input
          id={id}
          autocomplete="off"
          value={value}
          aria-invalid={Boolean(fault)}
          aria-describedby={`${id}-fault`}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          {...rest}
        />
        {children}
      </div>
      <p id={`${id}-fault`} class="fault">
        {fault || null}
      </p>
    </div>
  );
}
