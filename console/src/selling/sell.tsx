import type { Pet, StoreOrder } from "petstore-client";
import { useEffect } from "preact/hooks";
import { useMay } from "../session/session.ts";
import { useShortcut } from "../ui/shortcuts.tsx";
import { useWatchable, Watchable } from "../watchable.ts";
import type { Picked } from "./pet-picker.tsx";
import { SaleDialog } from "./sale-dialog.tsx";
import { SellSeveral } from "./sell-several.tsx";

/** The sale or reservation whose dialog is open: of the animals that are given, or else of one that is picked there. */
const current = new Watchable<{ readonly of: readonly Picked[]; readonly isReserving?: boolean } | undefined>(
  undefined,
);

/** Opens the dialog in which an animal is sold. */
export const startSale = (pet?: Pet, order?: StoreOrder): void => current.set({ of: pet ? [{ pet, order }] : [] });

/** Opens the dialog in which an animal is reserved for a buyer. */
export const startReservation = (pet?: Pet): void =>
  current.set({ of: pet ? [{ pet, order: undefined }] : [], isReserving: true });

/** Opens the sheet in which several animals are sold. */
export const sellSeveral = (picked: readonly Picked[]): void => current.set({ of: picked });

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
  const { of, isReserving = false } = started;
  if (of.length > 1) return <SellSeveral of={of} onClose={close} />;
  return <SaleDialog of={of[0]} isReserving={isReserving} onClose={close} />;
}
