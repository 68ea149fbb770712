import type { FieldDescription } from "../contract.ts";
import { ORDERS } from "../orders/orders.ts";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import type { ControlProps } from "../ui/form/field.tsx";
import { priceParts } from "../ui/form/values.ts";
import { useFigures } from "./figures.ts";

/** The price of an animal or order, in a form. */
export const priceField: FieldDescription = { name: "price", label: "Price", kind: "price", isRemovable: true };

/** How many of the last sales are searched for one with a price. */
const SEARCHED = 10;

/** The currency of the shop, or else that of its last sale with a price; empty if there is none. */
export function useCurrency(): string {
  const { petstore } = useSession();
  const may = useMay();
  const { data: shop } = useFigures();
  const isAsked = shop && shop.currency === undefined && may("listStoreOrders");
  const { data } = useQuery(isAsked ? `${ORDERS}?last` : undefined, () =>
    petstore.listStoreOrders({ sort: "-confirmedAt", limit: SEARCHED }).page(),
  );
  return shop?.currency ?? data?.find(({ price }) => price)?.price?.currency ?? "";
}

/** A control for a price, in the currency of the shop unless another is entered. */
export function PriceControl({ id, entry, change, described }: ControlProps) {
  const [amount, currency] = priceParts(entry);
  const usual = useCurrency();
  const shown = currency || usual;
  return (
    <div class="beside">
      <input
        id={id}
        inputMode="decimal"
        autocomplete="off"
        value={amount}
        onInput={({ currentTarget: { value } }) => change(value.trim() ? `${value} ${shown}` : "")}
        {...described}
      />
      <input
        class="currency"
        aria-label="Currency"
        placeholder="EUR"
        maxLength={3}
        value={shown}
        onInput={({ currentTarget: { value } }) => change(`${amount} ${value.toUpperCase()}`)}
      />
    </div>
  );
}
