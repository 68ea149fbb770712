import type { RefObject } from "preact";
import { amountText, priceHint, type priceIn } from "../ui/money.ts";
import { TextField } from "../ui/text-field.tsx";

/** A price as it is typed. */
export interface TypedPrice {
  readonly amount: string;
  readonly currency: string;
}

/** The price of an animal or order, as it is typed. Without one, only the currency is filled in. */
export function typedPrice(price: ReturnType<typeof priceIn>, currency: string): TypedPrice {
  return { amount: price ? amountText(price) : "", currency: price?.currency ?? currency };
}

interface PriceFieldProps {
  /** Whose price it is, if there are several. */
  readonly of?: string;
  readonly value: TypedPrice;
  readonly change: (price: TypedPrice) => void;
  readonly isWrong: boolean;
  readonly field?: RefObject<HTMLInputElement | null> | undefined;
}

/** The field for a price, with its currency beside it. */
export function PriceField({ of, value, change, isWrong, ...rest }: PriceFieldProps) {
  const { amount, currency } = value;
  return (
    <TextField
      label={of === undefined ? "Price" : `Price of ${of}`}
      value={amount}
      change={(text) => change({ amount: text, currency })}
      fault={isWrong && priceHint(currency)}
      inputMode="decimal"
      {...rest}
    >
      <input
        class="currency"
        aria-label={of === undefined ? "Currency" : `Currency for ${of}`}
        placeholder="EUR"
        maxLength={3}
        value={currency}
        onInput={({ currentTarget }) => change({ amount, currency: currentTarget.value.toUpperCase() })}
      />
    </TextField>
  );
}
