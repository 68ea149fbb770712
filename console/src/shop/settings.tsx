import type { ShopPatch } from "petstore-client";
import { updateShopBody } from "../generated/contract.ts";
import { type Action, useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { Form } from "../ui/form/form.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { say } from "../ui/toasts.tsx";
import { useWatchable, Watchable } from "../watchable.ts";
import { browserZone } from "./days.ts";
import { useFigures } from "./figures.ts";

/** Currencies by the regions that the browser's language may name. In the others of Europe it is the euro. */
const currencies = "AU AUD BR BRL CA CAD CH CHF CN CNY CZ CZK DK DKK GB GBP IN INR JP JPY NO NOK PL PLN SE SEK US USD";

/** The currency that a shop here probably has; empty if nothing tells. */
function likelyCurrency(): string {
  const [, region = ""] = /-([A-Z]{2})\b/.exec(navigator.language) ?? [];
  const [, currency] = new RegExp(`\\b${region || "-"} ([A-Z]{3})`).exec(currencies) ?? [];
  const isEuropean = browserZone().startsWith("Europe/");
  return currency && !(isEuropean && region === "US") ? currency : isEuropean ? "EUR" : "";
}

const isOpen = new Watchable(false);

/** Opens the dialog with the settings of the shop. */
export const openSettings = (): void => isOpen.set(true);

function useSaving(): Action<ShopPatch> {
  const { petstore } = useSession();
  return useAction(async (body) => {
    const { currency, ...others } = body;
    await petstore.updateShop({ ...others, currency: currency?.toUpperCase() ?? currency });
    say("The settings are saved");
    invalidate("");
  });
}

/** The settings of the shop, wherever they were opened. */
export function Settings() {
  const { data } = useFigures();
  const action = useSaving();
  if (!useWatchable(isOpen) || !data) return null;
  return (
    <FormDialog
      title="Settings of the shop"
      fields={updateShopBody}
      values={data}
      changesOnly
      action={action}
      submit="Save"
      onClose={() => isOpen.set(false)}
    />
  );
}

const declined = new Watchable(false);

/** Offers an admin the browser's time zone and a currency for a shop that has no settings yet. */
export function OfferedSettings() {
  const may = useMay();
  const { data } = useFigures();
  const action = useSaving();
  const isDeclined = useWatchable(declined);
  if (isDeclined || !data || data.currency !== undefined || data.timeZone !== "UTC" || !may("updateShop")) return null;
  const close = () => declined.set(true);
  return (
    <section class="card settings" aria-label="Settings of the shop">
      <h2>When does the shop's day begin, and what are its prices in?</h2>
      <Form
        fields={updateShopBody}
        values={{ timeZone: browserZone(), currency: likelyCurrency() }}
        action={action}
        submit="Save"
        onDone={close}
        onCancel={close}
        cancel="Not now"
      />
    </section>
  );
}
