import type { FieldDescription } from "../contract.ts";
import type { ControlProps } from "../ui/form/field.tsx";
import { priceParts } from "../ui/form/values.ts";
import { useFigures } from "./figures.ts";

/** The price of an animal or order, in a form. */
export const priceField: FieldDescription = { name: "price", label: "Price", kind: "price", isRemovable: true };

/** A control for a price, in the currency of the shop unless another is entered. */
export function PriceControl({ id, entry, change, described }: ControlProps) {
  const { data: shop } = useFigures();
  const [amount, currency] = priceParts(entry);
  const shown = currency || (shop?.currency ?? "");
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
